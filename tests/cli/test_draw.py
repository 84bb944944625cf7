"""`draw`, in this process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from bayesnas_graph.cli.draw import draw
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.report import png

Draw = Callable[..., str]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Draw:
    """Runs the verb in an empty folder; what it printed."""
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
    with pytest.raises(NasError, match=r"NAS012: `digits\.svg` is already there"):
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
    assert "evaluation(width = 24, cells = 8," in text


@pytest.mark.parametrize(
    "arguments",
    [("-o", "picture.jpeg"), ("-o", "picture"), ("--format", "jpeg"), ("--format", "pgn"), ("-p", "width")],
)
def test_says_what_it_does_not_understand(drawn: Draw, arguments: tuple[str, ...]) -> None:
    with pytest.raises(typer.BadParameter):
        drawn("quickstart", *arguments)


def test_a_folder_that_is_not_there(drawn: Draw) -> None:
    with pytest.raises(NasError, match="NAS012: cannot write"):
        drawn("quickstart", "-o", "nowhere/a.svg")


def test_png_without_a_converter(drawn: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "_CONVERTERS", ())
    with pytest.raises(NasError) as error:
        drawn("quickstart", "-o", "a.png")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS012"
    assert "rsvg-convert" in (diagnostic.help or "")
    assert not (tmp_path / "a.png").exists()


def test_png_with_a_converter(drawn: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "_CONVERTERS", (("test", lambda svg, width, height: b"\x89PNG"),))
    drawn("quickstart", "-o", "a.png")
    assert (tmp_path / "a.png").read_bytes() == b"\x89PNG"


def test_needs_no_torch() -> None:
    code = "import bayesnas_graph.cli.draw, bayesnas_graph.report, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
