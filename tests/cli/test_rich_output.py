"""Output is wrapped to the width of the terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

from bayesnas_graph.cli import rich_output
from tests.cli.conftest import Run


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_output, "rich_console", lambda: Console(width=40))


@pytest.mark.usefixtures("narrow")
def test_assignments_and_arrays_are_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    rich_output.show_fields([("size", "width = 8, depths = [1, 2, 3], drop = 0.5"), ("none", "")], 6)
    assert capsys.readouterr().out == "  size   width = 8, depths = [1, 2, 3],\n         drop = 0.5\n  none   \n"


@pytest.mark.usefixtures("narrow")
def test_only_paragraphs_that_do_not_fit_are_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    rich_output.show_text("Two\nlines.\n\n" + "A line that is longer than the terminal\nis wide.")
    lines = ["Two", "lines.", "", "A line that is longer than the terminal", "is wide."]
    assert capsys.readouterr().out.splitlines() == lines
    rich_output.show_text("A line that is a bit longer than the terminal is\nwide.")
    assert capsys.readouterr().out == "A line that is a bit longer than the\nterminal is wide.\n"


def test_many_conditions_are_counted(run: Run) -> None:
    out = run("spaces", "nasnet").out
    assert out.count("requires") == 4
    assert "requires    normal: 30 conditions on edges, which `stats` lists" in out


def test_a_small_number_is_written_once(run: Run) -> None:
    assert "architectures  768\n" in run("stats", "tabular").out
