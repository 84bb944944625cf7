"""Colours, widths and links: what a stream can show, and what is shown on it."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bayesnas_graph.cli.console import labelled, note, target, written
from bayesnas_graph.cli.display.compress_view import _fitted
from bayesnas_graph.cli.rich_output import table_lines
from bayesnas_graph.cli.terminal import link, paint, text_width, use_color, waiting
from bayesnas_graph.diagnostics.wrapping import whole
from bayesnas_graph.runs.reading.compression import LAYER_HEAD
from tests.cli.conftest import Run

STYLES = re.compile(r"\x1b\[[\d;]*m")
PROGRAM = [sys.executable, "-m", "bayesnas_graph"]
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(arguments: list[str], folder: Path, **environment: str) -> str:
    """What a command writes to a terminal of an unknown size, which has 80 columns."""
    outer, inner = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, stdout=inner, stderr=inner, env={**clean, "TERM": "xterm", **environment}
    )
    os.close(inner)
    shown = b""
    while True:
        try:
            read = os.read(outer, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not read:
            break
        shown += read
    os.close(outer)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("environment", "on_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, False, False),
    ],
)
def test_when_output_is_coloured(
    environment: dict[str, str], on_terminal: bool, in_pipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert use_color(Terminal()) == on_terminal
    assert use_color(io.StringIO()) == in_pipe
    assert paint("red", "x", io.StringIO()) == ("\033[31mx\033[0m" if in_pipe else "x")


def test_lines_are_wrapped_on_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for columns, width in (("40", 40), ("", 80), ("0", 80), ("wide", 80)):
        monkeypatch.setenv("COLUMNS", columns)
        assert text_width(Terminal()) == width
        assert text_width(io.StringIO()) is None, "other programs set COLUMNS, too"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert text_width(io.StringIO()) is None
    monkeypatch.setenv("COLUMNS", "40")
    assert text_width(io.StringIO()) == 40


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output like that on a terminal of 40 columns without colours."""
    for name, value in (("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("COLUMNS", "40")):
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("narrow")
def test_long_lines_are_indented_below_their_text() -> None:
    closed = "14 of 30 switches: 9 dead end, 5 own switch off"
    assert labelled("closed", closed).splitlines() == [
        "closed         14 of 30 switches: 9 dead",
        "               end, 5 own switch off",
    ]
    assert note("the loss went to 12.3 at step 110: back to step 100").splitlines() == [
        "note   the loss went to 12.3 at step",
        "       110: back to step 100",
    ]


@pytest.mark.usefixtures("narrow")
def test_styles_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = labelled("target", target("params < 20,000", met=True))
    monkeypatch.delenv("NO_COLOR")
    styled = labelled("target", target("params < 20,000", met=True))
    assert "\033[32mmet" in styled
    assert STYLES.sub("", styled) == plain
    assert "\033[31mnot met" in target("x", met=False)


def test_written_files_of_a_folder_are_one_line() -> None:
    paths = [Path("run/a.json"), Path("run/b.csv"), Path("run/c.csv"), Path("model.py"), Path("x/y.txt")]
    assert list(written(paths)) == ["wrote a.json, b.csv and c.csv to run", "wrote model.py", "wrote x/y.txt"]
    assert list(written([Path("a"), Path("b")])) == ["wrote a and b"]
    assert list(written([])) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "quickstart", "tabular"],
        ["stats", "quickstart"],
        ["spaces"],
        ["spaces", "quickstart"],
        ["ops"],
        ["sample", "quickstart", "-n", "3"],
        ["diff", "quickstart", "tabular"],
        ["diff", "quickstart", "quickstart"],
        ["explain"],
        ["search", "quickstart", "--settings", "--lambda", "0.1"],
        ["compile", "quickstart", "--force"],
        ["new", "mine", "--force"],
        ["fmt", "--check", "untidy.nas"],
    ],
    ids=" ".join,
)
def test_colours_change_no_word(
    arguments: list[str], run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("untidy.nas").write_text("let   a = 1\n")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    plain = run(*arguments)
    assert not STYLES.search(plain.out + plain.err)
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run(*arguments)
    assert STYLES.sub("", coloured.out) == plain.out
    if arguments not in (["spaces"],):  # a list without a headline
        assert STYLES.search(coloured.out)


def test_a_terminal_gets_colours_and_whole_words(tmp_path: Path) -> None:
    shown = on_a_terminal(["stats", "nasbench201"], tmp_path)
    assert shown.startswith("\033[1mnetwork search")
    lines = STYLES.sub("", shown).splitlines()
    assert max(map(len, lines)) <= 80
    assert "                 labels = 10" in lines
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert on_a_terminal(["stats", "nasbench201"], tmp_path, **environment) == STYLES.sub("", shown)


def test_diagnostics_fit_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "bad.nas").write_text(
        "network n : image(1, 8, 8) -> classes(10) {\n    in x\n"
        "    x -> out : conv(4) > bn > relu > conv(8) > bn > relu > conv(16) > no_such_operation > linear(10)\n}\n"
    )
    shown = STYLES.sub("", on_a_terminal(["check", "bad.nas"], tmp_path))
    assert max(map(len, shown.splitlines())) <= 80
    code, carets = next((a, b) for a, b in zip(shown.splitlines(), shown.splitlines()[1:], strict=False) if "^" in b)
    assert code[carets.index("^") : carets.rindex("^") + 1] == "no_such_operation"


def test_a_path_is_a_link_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "a page.html"
    assert link(page) == str(page)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert link(page) == f"\033]8;;{page.as_uri()}\033\\{page}\033]8;;\033\\"
    assert "%20" in link(page)
    monkeypatch.setenv("TERM", "dumb")
    assert link(page) == str(page)


def test_waiting_is_said_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("RANK", raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with waiting("loading torch"):
        assert terminal.getvalue() == "loading torch ..."
    assert terminal.getvalue() == "loading torch ...\r\033[K"
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with waiting("loading torch"):
        pass
    assert pipe.getvalue() == ""


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["data", "get", "-h"]], ids=" ".join)
def test_help_is_coloured_like_everything_else(arguments: list[str], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")  # where rich would colour
    plain = run(*arguments).out
    assert "Usage" in plain
    assert not STYLES.search(plain)
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert STYLES.search(run(*arguments).out)
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(*arguments).out == plain


def test_only_the_last_column_of_a_table_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("COLUMNS", "60")):
        monkeypatch.setenv(name, value)
    command = whole("bayesnas-graph data get fashion-mnist --mirror URL")
    rows = [("fashion-mnist", "10 classes", f"not here: {command}"), ("digits", "10", "")]
    assert table_lines(rows) == [
        "fashion-mnist  10 classes  not here:",
        "                           bayesnas-graph data get fashion-mnist --mirror URL",
        "digits         10",
    ]


def test_a_narrow_terminal_shows_fewer_columns_of_layers() -> None:
    rows = [LAYER_HEAD, ("block.conv", "conv", "1/2", "3/4", "filter 1/2, channel 3/4", "50.0 %", "1/2", "10/20")]
    wide, narrow = list(_fitted(rows, None)), list(_fitted(rows, 60))
    assert [wide, narrow[:-1]] == [list(_fitted(rows, 200)), [STYLES.sub("", line) for line in narrow[:-1]]]
    assert wide[0].split() == " ".join(LAYER_HEAD).split()
    assert narrow[0].split() == ["layer", "outputs", "inputs", "zero", "parameters"]
    assert narrow[-1] == "not shown: kind, operations, groups left; `layers.json` has them"
    assert max(map(len, narrow[:-1])) <= 60
