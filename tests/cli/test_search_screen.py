"""The live display of a search on a terminal."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from bayesnas_graph.cli.display.search_screen import TRAIL, SearchScreen, share
from bayesnas_graph.cli.display.switch_table import SwitchTable
from bayesnas_graph.cli.run_options import RunOptions
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.runs.reading.outline import OutlineSwitch
from bayesnas_graph.search.progress import SearchProgress
from tests.cli.fake_search import logged, outline, standing, updated

WARNING = Diagnostic("NAS607", "the penalty is too weak", help="`--lambda 1` would be enough", severity="warning")

# ------------------------------------------------------------------------------------- the table of open switches


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 120), st.integers(0, 30), st.data())
def test_the_table_always_fits_and_counts_everything(
    parts: int, operations: int, width: int, height: int, data: st.DataObject
) -> None:
    names = tuple(f"operation_{i}" for i in range(operations))
    switches = outline(parts, names, choices=2).switches
    alive = frozenset(data.draw(st.sets(st.sampled_from([switch.name for switch in switches]))))
    lines = SwitchTable.of(switches, alive).lines(width, height)
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    entries = [tuple(map(int, entry.split("/"))) for entry in re.findall(r"\d+/\d+", "\n".join(lines))]
    if lines:
        assert tuple(map(sum, zip(*entries, strict=True))) == (len(alive), len(switches))
    else:
        assert width < 40 or height < 3


def test_the_table_is_turned_where_that_fits_better() -> None:
    switches = outline(parts=2, operations=("separable_convolution", "dilated_convolution", "zero")).switches
    wide, narrow = (SwitchTable.of(switches, set()).lines(width, 10) for width in (80, 40))
    assert wide[0].split() == ["separable_convolution", "dilated_convolution", "zero"]
    assert narrow[0].split() == ["cell_0", "cell_1"]


def test_rows_without_room_are_summarised() -> None:
    switches = [
        OutlineSwitch(f"{i}.{j}", f"cell_{i}", "", f"op_{j}") for i in range(4) for j in range(20) if j % (i + 1) == 0
    ]
    lines = SwitchTable.of(switches, {switch.name for switch in switches}).lines(60, 5)
    assert [line.split() for line in lines] == [
        ["cell_0", "cell_1", "cell_2", "cell_3"],
        ["op_0", "1/1", "1/1", "1/1", "1/1"],
        ["op_12", "1/1", "1/1", "1/1", "1/1"],  # those that most cells have
        ["op_4", "1/1", "1/1", "1/1"],
        ["17", "more", "17/17", "7/7", "5/5", "2/2"],
    ]


# ------------------------------------------------------------------------------------- the screen


def drawn(screen: SearchScreen, width: int, height: int, *, color: bool = False) -> str:
    """The output on a terminal of this size."""
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, no_color=not color, color_system="256"
    )
    with console.capture() as capture:
        console.print(screen, end="")
    return capture.get() if color else re.sub(r"\x1b\[[\d;]*m", "", capture.get())


def test_screen() -> None:
    screen = SearchScreen(state=logged(updated(standing()), 160))
    text = "\n".join(line.rstrip() for line in drawn(screen, 80, 24).splitlines())
    text = re.sub(r"\d+:\d\d:\d\d elapsed", "0:00:00 elapsed", text)
    assert text == (
        "\n"
        " iteration 2/4  █████████████████████████░░░░░░░░░░░░░░░░░░░░░░░  160/300 steps\n"
        " 0:00:00 elapsed, 0:00:24 left, 144 ms per step\n"
        "\n"
        " loss        1.538                      accuracy       0.508, 0.833 held-out\n"
        " penalty     0.8299                     lambda         0.02\n"
        " parameters  16,466 of 45,650           multiply-adds  349,216 of 949,216\n"
        " switches    19 of 24 open              learning rate  0.0196\n"
        " shrink      0.50 to 2.00, where 1 closes a gate: enough to close 7 of 19 swit…\n"
        " target      params < 20,000\n"
        "\n"
        "         conv  pool  skip  zero\n"
        " cell_0   1/3   2/3   2/3   2/3\n"
        " cell_1   3/3   3/3   3/3   3/3"
    )


@settings(max_examples=40)
@given(st.integers(1, 200), st.integers(1, 60), st.integers(1, 40), st.integers(1, 12))
def test_the_screen_fits_any_terminal(width: int, height: int, parts: int, operations: int) -> None:
    found = outline(parts, tuple(f"operation_{i}" for i in range(operations)))
    lines = drawn(SearchScreen(state=logged(updated(standing(found), 1))), width, height).splitlines()
    assert len(lines) <= max(1, height - TRAIL), "there is room for the lines above"
    assert all(len(line) <= width for line in lines)
    assert len(lines) < 2 or lines[1].strip().startswith("i") or width < 4


def test_all_operations_of_darts_fit_a_small_terminal() -> None:
    operations = (
        "sep_conv_3",
        "sep_conv_5",
        "dil_conv_3",
        "dil_conv_5",
        "max_pool_3x3",
        "avg_pool_3x3",
        "skip",
        "zero",
    )
    text = drawn(SearchScreen(state=logged(standing(outline(2, operations, choices=14)))), 80, 24)
    assert all(operation in text for operation in operations)


def test_screen_with_and_without_colours() -> None:
    screen = SearchScreen(state=logged(standing()))
    green = re.compile(r"\x1b\[[\d;]*3[2-7]")
    assert green.search(drawn(screen, 80, 24, color=True))
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, no_color=True)
    with console.capture() as capture:
        console.print(screen)
    assert not green.search(capture.get())


def test_before_anything_is_known() -> None:
    text = drawn(SearchScreen(state=standing()), 80, 24)
    assert "loss        -" in text
    assert "left" not in text


class Terminal(io.StringIO):
    """A terminal that keeps what was written to it."""

    def isatty(self) -> bool:
        return True


def trail(screen: SearchScreen, terminal: Terminal) -> list[str]:
    """What is left once the screen is closed: a line for each that was not erased."""
    screen.closed()
    lines: list[str] = [""]
    row = 0
    for piece in re.findall(r"\x1b\[(?:\?)?[\d;]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", terminal.getvalue()):
        if piece == "\n":
            row += 1
            lines += [""] if row == len(lines) else []
        elif piece == "\x1b[2K":
            lines[row] = ""
        elif up := re.fullmatch(r"\x1b\[(\d+)A", piece):
            row -= int(up[1])
        elif not piece.startswith(("\x1b", "\r")):
            lines[row] += piece
    return [line.rstrip() for line in lines if line.strip()]


def test_updates_and_notes_stay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    terminal = Terminal()
    screen = SearchScreen(terminal)
    before = standing()
    screen.started(before, None)
    after = updated(before)
    screen.updated(before, after)
    assert screen._live is not None
    screen._live.refresh()
    screen.noted("the loss went to 12.3 at step 110: back to step 100, learning rates at 0.5 of what was asked for")
    screen.updated(after, after)
    assert trail(screen, terminal) == [
        "update 1/4  held-out 0.833  switches 19/24  parameters 16,466  closed 5:",
        "  cell_0 h[0]: conv, cell_0 h[0]: pool, cell_0 h[0]: skip and 2 more",
        "note   the loss went to 12.3 at step 110: back to step 100, learning rates at",
        "       0.5 of what was asked for",
        "update 1/4  held-out 0.833  switches 19/24  parameters 16,466  closed none",
    ]
    assert capsys.readouterr().out.startswith("search "), "the header was printed before"


@dataclass
class Gone(io.StringIO):
    """A terminal that closes after some output."""

    left: int = 3

    def __post_init__(self) -> None:
        super().__init__()

    def write(self, text: str) -> int:
        self.left -= 1
        if self.left < 0:
            raise OSError(5, "Input/output error")
        return len(text)

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def test_the_terminal_may_go_away(capsys: pytest.CaptureFixture[str]) -> None:
    gone = Gone()
    screen = SearchScreen(stream=gone)
    screen.started(standing(), WARNING)
    for step in range(101, 110):
        screen.logged(logged(standing(), step))
        assert screen._live is not None
        screen._live.refresh()
    screen.noted("nobody hears this")
    screen.closed()
    assert gone.left < 0
    told = capsys.readouterr()
    assert "NAS607" in told.err
    assert "nobody hears this" not in told.out


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "0 of 0"), (1, 9_999_999, "1 of 9,999,999"), (5e6, 1e7, "5M of 10M"), (1e9, 2e10, "1G of 20G")],
)
def test_sizes_are_short(part: float, whole: float, text: str) -> None:
    assert share(int(part), int(whole)) == text


@pytest.mark.parametrize(
    ("display", "term", "encoding", "tty", "live"),
    [
        ("auto", "xterm", "utf-8", True, True),
        ("live", "xterm", "UTF-8", True, True),
        ("plain", "xterm", "utf-8", True, False),
        ("auto", "dumb", "utf-8", True, False),
        ("auto", "xterm", "latin-1", True, False),
        ("live", "xterm", "utf-8", False, False),
    ],
)
def test_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, display: Any, term: str, encoding: str, tty: bool, live: bool
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: tty, raising=False)
    assert RunOptions(display=display).live is live


def test_the_end_is_known_once_the_architecture_is_found() -> None:
    before = logged(updated(standing(outline(finish=20))), 200)
    found = before.concluded(SearchProgress(step=200, iteration=2, ended="it is found", last_step=220))
    terminal = Terminal()
    screen = SearchScreen(terminal)
    screen.started(before, None)
    screen.concluded(found, "it is found")
    assert "200/220 steps" in drawn(screen, 80, 24)
    assert "shrink" not in drawn(screen, 80, 24)
    assert trail(screen, terminal) == ["note   it is found; 20 more steps train its weights"]
