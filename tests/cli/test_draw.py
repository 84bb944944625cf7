"""The command `draw`, in this process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from bayesnas_graph import passes
from bayesnas_graph.cli.draw import draw
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.report.pictures import convert
from tests.helpers import edit_json

Draw = Callable[..., str]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Draw:
    """Run the command in an empty folder and return its output."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(draw)
    monkeypatch.chdir(tmp_path)

    def go(*arguments: str) -> str:
        app(list(arguments), standalone_mode=False)
        sys.stdout.flush()
        return capfdbinary.readouterr().out.decode()

    return go


def test_writes_beside_where_it_is_run(drawn: Draw, tmp_path: Path) -> None:
    assert drawn("quickstart") == "wrote digits.svg\n"
    assert (tmp_path / "digits.svg").read_text().startswith("<svg")


def test_never_overwrites_unasked(drawn: Draw, tmp_path: Path) -> None:
    (tmp_path / "digits.svg").write_text("mine")
    with pytest.raises(NasError, match=r"NAS012: `digits\.svg` already exists"):
        drawn("quickstart")
    assert (tmp_path / "digits.svg").read_text() == "mine"
    drawn("quickstart", "--force")
    assert (tmp_path / "digits.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", "<svg"), ("a.dot", "digraph"), ("a.mmd", "flowchart"), ("A.SVG", "<svg")]
)
def test_the_ending_says_what_to_write(drawn: Draw, tmp_path: Path, name: str, start: str) -> None:
    drawn("darts", "-o", name)
    assert (tmp_path / name).read_text().startswith(start)


def test_prints(drawn: Draw, tmp_path: Path) -> None:
    assert drawn("lenet5", "-o", "-").startswith("<svg")
    assert drawn("lenet5", "-o", "-", "--format", "mermaid").startswith("flowchart")
    assert drawn("lenet5", "-o", "-", "--format", "dot").startswith("digraph")
    assert not list(tmp_path.iterdir())


def test_takes_a_network_and_parameters(drawn: Draw) -> None:
    text = drawn("darts", "--network", "evaluation", "-p", "cells=8", "-p", "width=24", "-o", "-")
    assert "network evaluation" in text
    assert "width = 24, cells = 8," in text


@pytest.mark.parametrize(
    "arguments",
    [("-o", "picture.jpeg"), ("-o", "picture"), ("--format", "jpeg"), ("--format", "pgn"), ("-p", "width")],
)
def test_says_what_it_does_not_understand(drawn: Draw, arguments: tuple[str, ...]) -> None:
    with pytest.raises(typer.BadParameter):
        drawn("quickstart", *arguments)


def test_a_folder_that_is_not_there(drawn: Draw, tmp_path: Path) -> None:
    assert drawn("quickstart", "-o", "new/folder/a.svg") == "wrote new/folder/a.svg\n"
    (tmp_path / "file").touch()
    with pytest.raises(NasError, match="NAS012: cannot write"):
        drawn("quickstart", "-o", "file/a.svg")


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_without_a_converter(drawn: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(convert, "_CONVERTERS", ())
    with pytest.raises(NasError) as error:
        drawn("quickstart", "-o", f"a.{kind}")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS012"
    assert kind.upper() in diagnostic.message
    assert "rsvg-convert" in (diagnostic.help or "")
    assert not (tmp_path / f"a.{kind}").exists()


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_with_a_converter(drawn: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(convert, "_CONVERTERS", (("test", lambda picture, kind: f"{kind} {picture.svg}".encode()),))
    drawn("quickstart", "-o", f"a.{kind}")
    made = (tmp_path / f"a.{kind}").read_text()
    assert made.startswith(f"{kind} <svg")
    assert "prefers-color-scheme" not in made, "paper and pixels do not change with the screen"


def test_themes(drawn: Draw) -> None:
    light, dark = (drawn("lenet5", "-o", "-", "--theme", theme) for theme in ("light", "dark"))
    auto = drawn("lenet5", "-o", "-")
    assert "prefers-color-scheme" in auto
    assert "prefers-color-scheme" not in light + dark
    assert light != dark


# ---- some of the panels, and figures


def test_cells(drawn: Draw) -> None:
    text = drawn("nasbench201", "-o", "-", "--cell", "dense", "--cell", "stage")
    assert "cell dense" in text
    assert "motif stage" in text
    assert "network search" not in text


def test_a_cell_that_is_not_there(drawn: Draw) -> None:
    with pytest.raises(NasError) as error:
        drawn("nasbench201", "--cell", "dens")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS101"
    assert (diagnostic.help or "").startswith("did you mean `dense`? panels show `search`, `skeleton`, `stage`,")


def test_a_figure_for_every_panel(drawn: Draw, tmp_path: Path) -> None:
    assert drawn("quickstart", "--figure", "-o", "fig.svg") == "wrote fig-digits.svg\nwrote fig-block.svg\n"
    assert all('pt"' in (tmp_path / f"fig-{name}.svg").read_text() for name in ("digits", "block"))
    assert drawn("quickstart", "--figure", "-o", "fig.svg").startswith("wrote"), "the same pictures"
    with pytest.raises(NasError, match=r"`fig-digits\.svg` already exists"):
        drawn("quickstart", "--figure", "--mono", "-o", "fig.svg")


def test_one_figure_has_the_name_that_was_asked_for(drawn: Draw) -> None:
    assert drawn("quickstart", "--figure", "--cell", "block", "-o", "fig.svg") == "wrote fig.svg\n"
    assert drawn("quickstart", "--figure", "--cell", "block", "-o", "-").startswith("<svg")


def test_a_figure_has_a_background_on_request(drawn: Draw) -> None:
    plain, light, dark = (
        drawn("quickstart", "--figure", "--cell", "block", "-o", "-", "--theme", theme)
        for theme in ("auto", "light", "dark")
    )
    assert 'fill="#ffffff"' not in plain
    assert '<rect x="0" y="0"' in light
    assert '<rect x="0" y="0"' in dark
    assert light != dark


def test_panels_of_one_name_are_numbered(drawn: Draw) -> None:
    assert "wrote search-tree.svg\nwrote search-tree-2.svg\n" in drawn("tree_cell", "--figure")


@pytest.mark.parametrize(
    "arguments",
    [("--mono",), ("--figure", "--format", "dot"), ("--figure", "-o", "-"), ("--figure", "-o", "a.mmd")],
)
def test_figures_that_cannot_be(drawn: Draw, arguments: tuple[str, ...]) -> None:
    with pytest.raises(typer.BadParameter):
        drawn("quickstart", *arguments)


# ---- runs


def made_run(folder: Path, kind: str = "search", **parameters: int) -> Path:
    """A made-up run folder of a search that kept every `sep_conv`, with the files that `draw` reads."""
    (folder / "space").mkdir(parents=True)
    text = shipped_text("quickstart")
    (folder / "space" / "copy.nas").write_text(text)
    manifest = {"space": "quickstart", "called": "<shipped>/quickstart.nas", "file": "copy.nas", "network": "digits"}
    manifest |= {"begun": "2026-01-01T00:00:00+00:00", "kind": kind}
    (folder / "run.json").write_text(
        json.dumps({**manifest, "python_ops": False, "config": {"parameters": parameters}})
    )
    network = load_network(folder / "space" / "copy.nas").network
    gates = passes.run(network.graph(), passes.SWITCHES).gates
    groups: dict[str, list[str]] = {}
    for gate in gates:
        groups.setdefault(gate.group, []).append(gate.name)
    verdicts = [
        {"name": group, "keep": group.endswith((".sep_conv", ".zero")), "gates": names}
        for group, names in groups.items()
    ]
    (folder / "decision.json").write_text(json.dumps({"verdicts": verdicts}))
    return folder


def shipped_text(name: str) -> str:
    path = shipped_space(name)
    assert path is not None
    return path.read_text()


def test_a_search_is_drawn_as_it_ended(drawn: Draw, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", width=16)
    text = drawn(str(run), "-o", "-")
    assert "digits(width = 16)" in text
    assert "6 of 24 candidates stay" in text
    assert "max_pool_bn" not in text
    assert 'class="zero"' not in text
    assert drawn(str(run)) == "wrote digits.svg\n"
    assert 'class="zero"' in drawn(str(run), "--space", "-o", "-")
    figure = drawn(str(run), "--figure", "--cell", "block", "-o", "-")
    assert figure.count(">sep_conv<") == 6


def test_a_training_is_drawn_as_it_began(drawn: Draw, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", kind="train")
    assert drawn(str(run), "-o", "-") == drawn(str(run), "--space", "-o", "-")


def test_a_compression_is_drawn_as_it_ended(drawn: Draw, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", kind="compress")
    with pytest.raises(NasError, match=r"NAS602: `.*` has not finished"):
        drawn(str(run))
    (run / "network.nas").write_text(shipped_text("lenet5"))
    assert "network lenet5" in drawn(str(run), "-o", "-")
    assert "network digits" in drawn(str(run), "--space", "-o", "-")


def test_what_was_derived(drawn: Draw, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    derived = tmp_path / "run" / "derived"
    derived.mkdir()
    about = {"space": "quickstart", "network": "digits", "parameters": {"width": "8"}, "run": str(run)}
    (derived / "derived.json").write_text(json.dumps(about))
    (derived / "decision.json").write_text((run / "decision.json").read_text())
    (derived / "network.nas").write_text(shipped_text("lenet5"))
    assert "6 of 24 candidates stay" in drawn(str(derived), "-o", "-")
    assert 'class="zero"' in drawn(str(derived), "--space", "-o", "-")
    (derived / "derived.json").write_text(json.dumps({**about, "run": None, "space": "gone.nas"}))
    assert "network lenet5" in drawn(str(derived), "-o", "-"), "as written, if the space no longer exists"
    with pytest.raises(NasError, match="NAS602: the space of"):
        drawn(str(derived), "--space")


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (None, "NAS602: `run` has not finished"),
        ("{", "it is damaged"),
        ("[]", "it is damaged"),
        ('{"verdicts": [{"keep": true}]}', "it is damaged"),
        ('{"verdicts": [{"keep": true, "gates": [3]}]}', "it is damaged"),
        ('{"verdicts": []}', "is not about the switches of network `digits`"),
        ("[" * 100_000, "it is damaged"),
    ],
)
def test_decisions_that_cannot_be_drawn(drawn: Draw, tmp_path: Path, decision: str | None, message: str) -> None:
    run = made_run(tmp_path / "run")
    (run / "decision.json").unlink()
    if decision is not None:
        (run / "decision.json").write_text(decision)
    with pytest.raises(NasError, match=message):
        drawn("run")
    assert drawn("run", "--space") == "wrote digits.svg\n"


def test_a_decision_that_leaves_nothing(drawn: Draw, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    edit_json(run / "decision.json", lambda decision: [one.update(keep=False) for one in decision["verdicts"]])
    with pytest.raises(NasError, match="NAS612: nothing reaches the output"):
        drawn("run")


def test_not_a_run_folder(drawn: Draw, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NasError, match="NAS602: `empty` is not a run folder"):
        drawn("empty")
    with pytest.raises(NasError, match="NAS602: `quickstart` is not a run folder"):
        drawn("quickstart", "--space")
    made_run(tmp_path / "run")
    with pytest.raises(NasError, match="NAS601: `run` is a run folder, and has its own network"):
        drawn("run", "-p", "width=4")
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(NasError, match="NAS602: cannot read"):
        drawn("run")


def test_needs_no_torch(tmp_path: Path) -> None:
    """Neither to import it nor to draw a run."""
    made_run(tmp_path / "run")
    code = "import sys, typer; from bayesnas_graph.cli.draw import draw\n"
    code += "app = typer.Typer(); app.command()(draw); app(['run'], standalone_mode=False)\n"
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path).returncode == 0
    assert (tmp_path / "digits.svg").exists()
