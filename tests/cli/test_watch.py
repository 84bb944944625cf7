"""What is seen of a search while it runs and when it ends: lines, a screen, and a summary."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from bayesnas_graph import passes
from bayesnas_graph.cli.live import Screen, share
from bayesnas_graph.cli.outcome import architecture_lines, too_large, unmet
from bayesnas_graph.cli.outline import Outline, Switch, switches_of
from bayesnas_graph.cli.standing import Standing, closed_text
from bayesnas_graph.cli.tally import Tally
from bayesnas_graph.cli.watch import Lines, head
from bayesnas_graph.diagnostics import Diagnostic
from tests.cli.conftest import Run
from tests.cli.showing import logged, outline, standing, updated
from tests.conftest import ROOT
from tests.helpers import body, graph
from tests.search.spaces import SHORT, TINY

WARNING = Diagnostic("NAS607", "the penalty is too weak", help="`--lambda 1` would be enough", severity="warning")

# ------------------------------------------------------------------------------------- switches and their names


def places(text: str) -> dict[str, tuple[str, str, str]]:
    found = passes.run(graph(text), passes.passes(fuse=False))
    return {switch.name: (switch.part, switch.choice, switch.operation) for switch in switches_of(found)}


def test_switches_are_called_after_what_the_text_says() -> None:
    cell = (
        "cell c { in x node h[2] x -> h[0] : choose { conv(), identity } x, h[0] -> h[1] : choose { conv() } out h[1] }"
    )
    found = places(cell + body("x -> out : c > c"))
    assert found["c:h.0.conv"] == ("c", "h[0]", "conv")
    assert found["c:h.0.zero"] == ("c", "h[0]", "zero")
    assert found["c:h.1.x.conv"] == ("c", "h[1] <- x", "conv")
    assert found["c:h.1.h_0.conv"] == ("c", "h[1] <- h[0]", "conv")
    assert len(found) == 3 + 2 + 2


def test_switches_outside_of_cells() -> None:
    motif = "motif m { in x node y x -> y : choose { conv() } x -> y : optional relu y -> out : relu }"
    found = places(motif + body("node z = x : m x, z -> out : choose { identity, bn }"))
    assert found["z.y.x.conv"] == ("m", "z.y <- x", "conv")
    assert found["z.y.x_2"] == ("m", "z.y <- x_2", "optional")
    assert {part for part, _, _ in found.values()} == {"m", "n"}


def test_a_choice_that_is_optional_or_in_a_choice() -> None:
    nested = "y -> out : choose { relu, bn > choose { conv(), relu } }"
    found = places(body(f"node y x -> y : relu x -> y : optional choose {{ bn, relu }} {nested}"))
    assert ("n", "y <- x_2", "optional") in found.values()
    assert ("n", "y <- x_2", "bn") in found.values()
    assert not any("<- choice" in choice for _, choice, _ in found.values())


# ------------------------------------------------------------------------------------- the table of open switches


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 120), st.integers(0, 30), st.data())
def test_the_table_always_fits_and_counts_everything(
    parts: int, operations: int, width: int, height: int, data: st.DataObject
) -> None:
    names = tuple(f"operation_{i}" for i in range(operations))
    switches = outline(parts, names, choices=2).switches
    alive = frozenset(data.draw(st.sets(st.sampled_from([switch.name for switch in switches]))))
    lines = Tally.of(switches, alive).lines(width, height)
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    entries = [tuple(map(int, entry.split("/"))) for entry in re.findall(r"\d+/\d+", "\n".join(lines))]
    if lines:
        assert tuple(map(sum, zip(*entries, strict=True))) == (len(alive), len(switches))
    else:
        assert width < 40 or height < 3


def test_the_table_is_turned_where_that_fits_better() -> None:
    switches = outline(parts=2, operations=("separable_convolution", "dilated_convolution", "zero")).switches
    wide, narrow = (Tally.of(switches, set()).lines(width, 10) for width in (80, 40))
    assert wide[0].split() == ["separable_convolution", "dilated_convolution", "zero"]
    assert narrow[0].split() == ["cell_0", "cell_1"]


def test_what_there_is_no_room_for_is_counted_together() -> None:
    switches = [Switch(f"{i}.{j}", f"cell_{i}", "", f"op_{j}") for i in range(4) for j in range(20) if j % (i + 1) == 0]
    lines = Tally.of(switches, {switch.name for switch in switches}).lines(60, 5)
    assert [line.split() for line in lines] == [
        ["cell_0", "cell_1", "cell_2", "cell_3"],
        ["op_0", "1/1", "1/1", "1/1", "1/1"],
        ["op_12", "1/1", "1/1", "1/1", "1/1"],  # those that most cells have
        ["op_4", "1/1", "1/1", "1/1"],
        ["17", "more", "17/17", "7/7", "5/5", "2/2"],
    ]


# ------------------------------------------------------------------------------------- lines


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    lines, begun = Lines(), standing()
    trained = logged(begun)
    after = updated(trained)
    lines.begun(begun, WARNING)
    lines.logged(trained)
    lines.updated(trained, after)
    lines.said("the loss went up")
    lines.logged(logged(after, 200))
    told = capsys.readouterr()
    assert told.err == "warning[NAS607]: the penalty is too weak\n = help: `--lambda 1` would be enough\n\n"
    assert told.out == (
        "search         network search of darts on cifar10, cpu, seed 3\n"
        "steps          100 to warm up, then 4 iterations of 50: 300\n"
        "switches       24, zero switches included\n"
        "weights        45,650 with all candidates\n"
        "multiply-adds  949,216 per sample with all candidates\n"
        "wanted         params < 20,000\n"
        "shrink         0.18 to 0.32, where 1 closes a gate: not enough to close any\n"
        "step 120/300  iteration 1/4  loss 1.538    accuracy 0.508  penalty 0.8299   rate 0.0196   "
        "  144 ms  left 0:00:26\n"
        "update 1/4  held-out 0.833  switches 19/24  weights 16,466  multiply-adds 349,216  lambda 0.02  "
        "shrink 0.50 to 2.00  closed 5: cell_0:h.0.conv, cell_0:h.0.pool, cell_0:h.0.skip and 2 more  1.3 s\n"
        "note   the loss went up\n"
        "step 200/300  iteration 2/4  loss 1.538    accuracy 0.508  penalty 0.8299   rate 0.0196   "
        "  144 ms  left 0:00:18\n"
    )


def test_a_search_that_goes_on_says_so() -> None:
    assert head(updated(standing()))[-1] == "goes on        after step 150, with 19 switches open"
    assert "goes on" not in "\n".join(head(standing()))


def test_phases() -> None:
    found = outline()
    assert [found.phase(step) for step in (0, 100, 101, 150, 151, 300)] == [
        "warm-up", "warm-up", "iteration 1/4", "iteration 1/4", "iteration 2/4", "iteration 4/4",
    ]  # fmt: skip
    without = Outline.from_json(found.to_json().replace(b'"warmup":100', b'"warmup":0'))
    assert without.phase(0) == "iteration 1/4"


def test_what_was_closed() -> None:
    before = standing()
    assert closed_text(before, before) == "closed none"
    assert closed_text(before, updated(before, closed=2)) == "closed 2: cell_0:h.0.conv, cell_0:h.0.pool"


# ------------------------------------------------------------------------------------- the screen


def drawn(screen: Screen, width: int, height: int, *, color: bool = False) -> str:
    """What is on a terminal of this size."""
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, no_color=not color, color_system="256"
    )
    with console.capture() as capture:
        console.print(screen, end="")
    return capture.get() if color else re.sub(r"\x1b\[[\d;]*m", "", capture.get())


def shown(of: Standing) -> Screen:
    screen = Screen("runs/darts-1", standing=of)
    screen.said("the loss went to 12.3 at step 110: back to step 100, learning rates at 0.5 of what was asked for")
    return screen


def test_screen() -> None:
    screen = shown(logged(updated(standing()), 160))
    text = "\n".join(line.rstrip() for line in drawn(screen, 80, 24).splitlines())
    text = re.sub(r"\d+:\d\d:\d\d passed", "0:00:00 passed", text)
    assert text == (
        " darts  network search on cifar10, cpu, seed 3                     runs/darts-1\n"
        "\n"
        " iteration 2/4  █████████████████████████░░░░░░░░░░░░░░░░░░░░░░  160/300 steps\n"
        " 0:00:00 passed, 0:00:24 left, 144 ms a step\n"
        "\n"
        " loss      1.538                        accuracy       0.508, 0.833 held-out\n"
        " penalty   0.8299                       lambda         0.02\n"
        " weights   16,466 of 45,650             multiply-adds  349,216 of 949,216\n"
        " switches  19 of 24 open                rate           0.0196\n"
        " shrink    0.50 to 2.00, where 1 closes a gate: enough to close 7 of 19 switch…\n"
        " wanted    params < 20,000\n"
        "\n"
        "         conv  pool  skip  zero\n"
        " cell_0   1/3   2/3   2/3   2/3\n"
        " cell_1   3/3   3/3   3/3   3/3\n"
        "\n"
        " · the loss went to 12.3 at step 110: back to step 100, learning rates at 0.5\n"
        "   of what was asked for"
    )


@settings(max_examples=40)
@given(st.integers(1, 200), st.integers(1, 60), st.integers(1, 40), st.integers(1, 12))
def test_the_screen_fits_any_terminal(width: int, height: int, parts: int, operations: int) -> None:
    found = outline(parts, tuple(f"operation_{i}" for i in range(operations)))
    lines = drawn(shown(logged(updated(standing(found), 1))), width, height).splitlines()
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    assert "dar…"[: width - 3] in lines[0] or width < 4


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
    text = drawn(shown(logged(standing(outline(2, operations, choices=14)))), 80, 24)
    assert all(operation in text for operation in operations)
    assert "learning rates" in text


def test_screen_with_and_without_colours() -> None:
    screen = shown(logged(standing()))
    green = re.compile(r"\x1b\[[\d;]*3[2-7]")
    assert green.search(drawn(screen, 80, 24, color=True))
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, no_color=True)
    with console.capture() as capture:
        console.print(screen)
    assert not green.search(capture.get())


def test_before_anything_is_known() -> None:
    text = drawn(Screen("runs/darts-1", standing=standing()), 80, 24)
    assert "loss      -" in text
    assert "left" not in text


def test_only_the_latest_messages_are_kept() -> None:
    screen = Screen("run", standing=standing())
    for number in range(100):
        screen.said(f"message {number}.")
    text = drawn(screen, 80, 24)
    assert "message 99." in text
    assert "message 50." not in text
    assert len(screen.messages) == 30
    assert len(screen.notes) == 100


@dataclass
class Gone(io.StringIO):
    """A terminal that is closed after a while."""

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
    with Screen("run", stream=gone) as screen:
        screen.begun(standing(), WARNING)
        for step in range(101, 110):
            screen.logged(logged(standing(), step))
            assert screen._live is not None
            screen._live.refresh()
        screen.said("nobody hears this")
    assert gone.left < 0
    told = capsys.readouterr()
    assert "NAS607" in told.err
    assert told.out == "nobody hears this\n"  # said again when the screen is left


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "0 of 0"), (1, 9_999_999, "1 of 9,999,999"), (5e6, 1e7, "5M of 10M"), (1e9, 2e10, "1G of 20G")],
)
def test_sizes_are_short(part: float, whole: float, text: str) -> None:
    assert share(int(part), int(whole)) == text


# ------------------------------------------------------------------------------------- the end


def test_architecture() -> None:
    switches = outline(parts=1, choices=2).switches
    optional = Switch("m", "net", "y <- x", "optional")
    kept = {"cell_0:h.0.conv", "cell_0:h.0.skip", "cell_0:h.0.zero", "cell_0:h.1.zero", "m"}
    assert list(architecture_lines([*switches, optional], kept)) == [
        "cell_0",
        "  h[0]    conv, skip",
        "  h[1]    nothing",
        "net",
        "  y <- x  optional",
    ]


def test_an_architecture_of_thousands_of_choices() -> None:
    lines = list(architecture_lines(outline(parts=10, choices=100).switches, set()))
    assert len(lines) == 60 + 1 + 1
    assert lines[-1] == "  and 940 more choices, in decision.json"


def test_larger_than_asked_for() -> None:
    result = {"parameters": 300, "flops": 4000, "unmet": ["params < 200"]}
    assert unmet(result, {}) == ["params < 200"]
    missed = unmet(result, {"target_params": 300, "target_flops": 3999})
    assert missed == ["params < 200", "flops <= 3,999"]
    warning = too_large(result, missed, 0.02)
    assert warning is not None
    assert (warning.code, warning.severity) == ("NAS608", "warning")
    assert "300 weights and takes 4,000 multiply-adds, not `params < 200` and `flops <= 3,999`" in warning.message
    assert "0.02" in (warning.help or "")
    assert too_large(result, [], 0.02) is None


# ------------------------------------------------------------------------------------- real searches


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.nas").write_text(TINY.replace("linear(10)\n", "linear(10)\n    require params < 100\n"))
    settings = SHORT | {"gate_rate": 0.1, "lambda": 0.01, "curvature": "ggn"}
    (tmp_path / "short.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    return tmp_path


def test_a_search_in_lines(run: Run, here: Path) -> None:
    result = run("search", "tiny.nas", "--config", "short.toml", "-o", "first")
    assert result.code == 0
    kinds = [line.split()[0] for line in result.out.splitlines() if line.startswith(("step ", "update ", "note "))]
    assert [kind for kind in kinds if kind != "note"] == [
        *["step"] * 6,
        "update",
        *["step"] * 4,
        "update",
        *["step"] * 4,
        "update",
    ]
    assert result.out.startswith("run            first\nsearch         network net of tiny.nas on tests.search.spaces")
    assert "warning[NAS607]" in result.err
    assert "warning[NAS608]" in result.err
    assert "h <- x    " in result.out
    assert result.out.endswith("look at it again with\n  bayesnas-graph status first\n")
    for name in re.findall(r"^wrote (.*)$", result.out, re.MULTILINE):
        assert Path(name).is_file()
    again = run("search", "tiny.nas", "--config", "short.toml", "-o", "second").out

    def steady(text: str) -> str:
        """Without the times at the ends of lines."""
        return re.sub(r"(?m) +(\S+ ms  left \S+|\S+ s)$", "", text)

    assert steady(result.out) == steady(again).replace("second", "first")
    assert steady(result.out) != result.out


def test_a_search_on_a_terminal_that_goes_away(here: Path) -> None:
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "bayesnas_graph", "search", "tiny.nas", "--config", "short.toml", "-o", "run"]
    environment = os.environ | {"TERM": "xterm", "PYTHONPATH": str(ROOT)}
    with (here / "errors").open("w") as errors:
        process = subprocess.Popen([*command, "--steps", "50"], stdout=inner, stderr=errors, env=environment)
    os.close(inner)
    seen = b""
    while b"\x1b[?1049h" not in seen or b"steps" not in seen:  # its own screen, with the bar on it
        seen += os.read(outer, 65536)
    os.close(outer)
    assert process.wait() == 0
    assert not re.search(rb"^step +\d", seen, re.MULTILINE)
    assert (here / "run" / "result.json").exists()
    told = (here / "errors").read_text()
    assert re.findall(r"\w+\[NAS\d+\]", told) == ["warning[NAS607]", "warning[NAS608]"]
    assert "Traceback" not in told


def test_nobody_reads_the_lines() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    script = "from bayesnas_graph.cli.watch import say\nfor number in range(9): say('x' * 9999)"
    result = subprocess.run([sys.executable, "-c", script], stdout=writing, stderr=subprocess.PIPE, cwd=ROOT)
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, b"")
