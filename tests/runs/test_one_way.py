"""One way to run: the API and the command line leave the same files, and networks are elaborated once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.cli.main import main
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.language.elaborate.space import Checker
from bayesnas_graph.runs.opening import open_run
from tests.search.spaces import SHORT, TINY
from tests.train.compress.small import LENET
from tests.train.networks import FIXED

NETWORK = TINY[TINY.index("network net") :]
DATA = {"data": SHORT["data"], "batch": 20, "threads": 1}
SEARCH = {**SHORT, "threads": 1}
SEARCH["intensity"] = SEARCH.pop("lambda")
TRAIN = {**DATA, "epochs": 1, "cutout": 2}
COMPRESS = {**DATA, "epochs": 1, "loops": 1, "loop_epochs": 1, "fine_epochs": 1, "rival": True}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"tiny": TINY, "fixed": FIXED, "lenet": LENET}.items():
        (tmp_path / f"{name}.nas").write_text(text)
    return tmp_path


def files(run: Path) -> set[str]:
    return {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}


def cli(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["bayesnas-graph", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code


@pytest.mark.parametrize(
    ("verb", "space", "run", "settings"),
    [
        ("search", "tiny.nas", api.search, SEARCH),
        ("train", "fixed.nas", api.train, TRAIN),
        ("compress", "lenet.nas", api.compress, COMPRESS),
    ],
)
def test_the_api_and_the_command_line_leave_the_same_files(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    space: str,
    run: Callable[..., Any],
    settings: dict[str, Any],
) -> None:
    run(space, output="api", **settings)
    words = [
        f"{'lambda' if key == 'intensity' else key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in settings.items()
    ]
    cli(monkeypatch, verb, space, "-o", "cli", "--display", "plain", *(part for word in words for part in ("-s", word)))
    assert files(folder / "api") == files(folder / "cli")
    for name in ("outline.json", "decision.json", "metrics.csv"):
        assert (folder / "api" / name).exists() == (folder / "cli" / name).exists()
    subject, weights = open_run(folder / "api").result
    assert subject.network.name
    assert weights


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the networks that are elaborated."""
    elaborated: list[str] = []
    whole = Checker._network

    def counting(self: Checker, module: Any, definition: Any, overrides: Any) -> Any:
        elaborated.append(definition.name.name)
        return whole(self, module, definition, overrides)

    with monkeypatch.context() as patch:
        patch.setattr(Checker, "_network", counting)
        yield elaborated


def test_a_run_elaborates_its_network_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "tiny.nas").write_text(TINY + NETWORK.replace("net(", "another("))
    with counted(monkeypatch) as elaborated:
        api.search("tiny.nas", output="run", **SEARCH)
    assert elaborated == ["net"]
    with counted(monkeypatch) as elaborated:
        api.evaluate("run", runs=1, allow_python=True)
    assert elaborated == ["net", "net"], "the space, and the derived text"
    with counted(monkeypatch) as elaborated:
        api.search(resume="run", allow_python=True)
    assert elaborated == ["net"]


def test_only_the_network_that_is_asked_for_must_be_right(folder: Path) -> None:
    (folder / "tiny.nas").write_text(TINY + NETWORK.replace("net(", "other(").replace("classes(10)", "classes(9)"))
    assert load_network(folder / "tiny.nas").network.name == "net"
    with pytest.raises(NasError, match="NAS212"):
        load_network(folder / "tiny.nas", "other")
    assert any(found.code == "NAS212" for found in api.check("tiny.nas"))
