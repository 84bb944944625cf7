"""Plug-ins of installed packages: strategies, data sets and operations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.cli import options
from bayesnas_graph.data import load
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.plugins import DATA_PLUGINS, OP_PLUGINS, STRATEGY_PLUGINS
from bayesnas_graph.language.json import from_json, to_json
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.search.strategies import strategy_of
from tests.cli.conftest import Run, run
from tests.conftest import ROOT
from tests.plugins import install

PAGE = (ROOT / "docs" / "plugins.md").read_text()
SOURCE = PAGE.partition("```python\n# signs.py\n")[2].partition("```")[0]  # what the page shows works
TEXT = """
network signs : image(1, 8, 8) -> classes(2) {
    in x
    x -> out : conv(4) > choose 1 { softsign, relu } > global_avg_pool > linear(2)
}
"""
ENTRIES = {
    STRATEGY_PLUGINS: {"even": "signs:even"},
    DATA_PLUGINS: {"stripes": "signs:stripes"},
    OP_PLUGINS: {"softsign": "signs:Softsign"},
}

__all__ = ["run"]  # the fixture


@pytest.fixture
def signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is installed, and was never imported."""
    install(tmp_path / "site", monkeypatch, "signs", SOURCE, ENTRIES)


@pytest.mark.usefixtures("signs")
def test_a_search_uses_plug_ins_of_all_kinds(tmp_path: Path) -> None:
    assert "signs" not in sys.modules
    lengths: dict[str, Any] = {"iterations": 1, "steps": 3, "warmup": 1, "finish": 1, "curvature_batches": 1}
    settings = lengths | {"batch": 10, "data": "stripes", "strategy": "even"}
    found = api.search(api.Text(TEXT), output=tmp_path / "run", **settings)
    assert "signs" in sys.modules
    assert api.derive(found).cost.parameters > 0
    one = next(one for one in api.sample(api.Text(TEXT), 2) if "softsign" in " ".join(one.switches))
    kept = api.derive(api.Text(TEXT), keep=one.switches)
    assert "softsign" in kept.written.text
    assert any(node.op.name == "softsign" for node in api.load(text=kept.written.text).graph())
    model = api.export(kept).build()
    assert model(torch.zeros(2, 1, 8, 8)).shape == (2, 2)
    assert "F.softsign(" in api.export(kept).program.text


@pytest.mark.usefixtures("signs")
def test_graphs_with_its_operations_are_read_again() -> None:
    graph = api.load(text=TEXT).graph()
    assert [node.op for node in from_json(to_json(graph), "graph.json")] == [node.op for node in graph]


@pytest.mark.usefixtures("signs")
def test_they_are_listed_without_being_imported(run: Run) -> None:
    assert "softsign  from signs 1.0" in run("ops").out
    assert "stripes" in run("data", "list").out
    assert "from signs 1.0" in run("data", "list").out
    assert "even (from signs 1.0)" in " ".join(run("search", "quickstart", "--settings").out.split())
    assert "even (from signs 1.0)" in options.help_text(SearchConfig.model_fields["strategy"])
    assert "signs" not in sys.modules
    assert "x divided by 1 plus its magnitude" in run("ops", "softsign").out


@pytest.mark.usefixtures("signs")
def test_what_a_file_defines_comes_first() -> None:
    own = "motif softsign {\n    in x\n    x -> out : tanh\n}\n"
    network = api.load(text=own + TEXT)
    assert any(node.op.name == "tanh" for node in network.graph())
    assert "signs" not in sys.modules


def test_packages_with_the_same_plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    for package in ("one", "two"):
        install(tmp_path / package, monkeypatch, package, "", {group: {"same": f"{package}:x"} for group in ENTRIES})
    with pytest.raises(NasError, match=r"NAS803: one 1.0 and two 1.0 both have a plug-in `same`"):
        load("same", tmp_path)
    with pytest.raises(NasError, match="NAS803"):
        SearchConfig.model_validate({"strategy": "same"})
    (problem,) = api.check(api.Text(TEXT.replace("softsign", "same")))
    assert problem.code == "NAS803"
    assert problem.primary is not None
    assert problem.primary.span.text == "same"
    assert "from one 1.0, not usable: two 1.0 has it too" in run("ops").out


def test_names_of_our_own_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    entries = {STRATEGY_PLUGINS: {"darts": "no:x"}, DATA_PLUGINS: {"digits": "no:x"}, OP_PLUGINS: {"conv": "no:x"}}
    install(tmp_path, monkeypatch, "taken", "", entries)
    assert load("digits", tmp_path).classes == 10
    assert type(strategy_of(SearchConfig.model_validate({"strategy": "darts"}))).__name__ == "Darts"
    assert not api.check("lenet5")
    assert "from taken 1.0, not usable: there is a built-in `conv`" in " ".join(run("ops").out.split())


def test_broken_plug_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        STRATEGY_PLUGINS: {"word": "broken:word", "gone": "broken:gone"},
        DATA_PLUGINS: {"word": "broken:word", "missing": "no_such_module:x", "raises": "broken:raises"},
        OP_PLUGINS: {"word": "broken:word", "other": "broken:Other"},
    }
    source = (
        "from bayesnas_graph.ir import Op\nword = 'a word'\ndef raises(): raise ValueError('no')\n"
        "class Other(Op):\n    name = 'another'\n"
    )
    install(tmp_path, monkeypatch, "broken", source, entries)
    for name, words in (("word", "not an instance"), ("gone", "cannot be imported")):
        with pytest.raises(NasError, match=f"NAS803.*`{name}` of broken 1.0 is broken.*{words}"):
            strategy_of(SearchConfig.model_validate({"strategy": name}))
    for name, words in (("word", "is `'a word'`"), ("missing", "No module"), ("raises", "no")):
        with pytest.raises(NasError, match=words):
            load(name, tmp_path)
    for name, words in (("word", "not a subclass of `Op`"), ("other", "another `name`")):
        (problem,) = api.check(api.Text(TEXT.replace("softsign", name)))
        assert problem.code == "NAS803"
        assert words in problem.message


def test_unknown_names_suggest_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "signs", SOURCE, ENTRIES)
    with pytest.raises(NasError) as error:
        load("stripe", tmp_path)
    assert error.value.diagnostics[0].help == "did you mean `stripes`?"
    with pytest.raises(ValueError, match="`snas` or `even`"):
        SearchConfig.model_validate({"strategy": "evenn"})
