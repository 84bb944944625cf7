"""The output of a search: log lines, live display and summary."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from bayesnas_graph import passes
from bayesnas_graph.bayes import Verdict
from bayesnas_graph.bayes.decision import Why
from bayesnas_graph.cli.display.search_lines import SearchLines, head, selection
from bayesnas_graph.cli.display.search_state import closed_text
from bayesnas_graph.cli.display.search_summary import architecture_lines, too_large
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.wrapping import whole
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.reading.outline import OutlineSwitch, switches_of, unmet
from bayesnas_graph.search.finalists import Finalist
from bayesnas_graph.search.progress import SearchProgress
from tests.cli.conftest import Run
from tests.cli.fake_search import logged, outline, standing, updated
from tests.conftest import ROOT
from tests.helpers import body, graph
from tests.search.spaces import SHORT, TINY

WARNING = Diagnostic("NAS607", "the penalty is too weak", help="`--lambda 1` would be enough", severity="warning")

# ------------------------------------------------------------------------------------- switches and their names


def places(text: str) -> dict[str, tuple[str, str, str]]:
    found = passes.run(graph(text), passes.SWITCHES)
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
    assert found["z.y.x_2"] == ("m", "z.y <- x (2)", "optional")
    assert {part for part, _, _ in found.values()} == {"m", "n"}


def test_a_choice_that_is_optional_or_in_a_choice() -> None:
    nested = "y -> out : choose { relu, bn > choose { conv(), relu } }"
    found = places(body(f"node y x -> y : relu x -> y : optional choose {{ bn, relu }} {nested}"))
    assert ("n", "y <- x (2)", "optional") in found.values()
    assert ("n", "y <- x (2)", "bn") in found.values()
    assert not any("<- choice" in choice for _, choice, _ in found.values())


# ------------------------------------------------------------------------------------- lines


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    lines, begun = SearchLines(), standing()
    trained = logged(begun)
    after = updated(trained)
    lines.started(begun, WARNING)
    lines.logged(trained)
    lines.updated(trained, after)
    lines.noted("the loss went up")
    lines.logged(logged(after, 200))
    told = capsys.readouterr()
    assert told.err == "warning[NAS607]: the penalty is too weak\n = help: `--lambda 1` would be enough\n\n"
    assert told.out == (
        "search         network search of darts on cifar10, cpu, seed 3\n"
        "steps          300: 100 to warm up, 4 iterations of 50\n"
        "switches       24, zero switches included\n"
        "parameters     45,650 with all candidates\n"
        "multiply-adds  949,216 per sample with all candidates\n"
        "target         params < 20,000\n"
        "shrink         0.18 to 0.32, where 1 closes a gate: not enough to close any\n"
        "step 120/300  iteration 1/4  loss 1.538    accuracy 0.508  penalty 0.8299   rate 0.0196   "
        "  144 ms  left 0:00:26\n"
        "update 1/4  held-out 0.833  switches 19/24  parameters 16,466  multiply-adds 349,216  lambda 0.02  "
        "shrink 0.50 to 2.00  closed 5: cell_0 h[0]: conv, cell_0 h[0]: pool, cell_0 h[0]: skip and 2 more  1.3 s\n"
        "note   the loss went up\n"
        "step 200/300  iteration 2/4  loss 1.538    accuracy 0.508  penalty 0.8299   rate 0.0196   "
        "  144 ms  left 0:00:18\n"
    )


def test_finalists_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """From the decision of the search to the architecture that replaces it."""
    planned = replace(outline(finish=20), finalists=3, finalist_steps=40)
    state = logged(updated(standing(planned)), 300)
    assert "steps          440: 100 to warm up, 4 iterations of 50, 3 finalists of 40, 20 to finish" in head(state)
    lines = SearchLines()
    finalists = tuple(Finalist(("cell_0:h.0.pool",), 15_000, 300_000, loss, 0.6431) for loss in (1.0312, 0.9715))
    progress = SearchProgress(step=300, iteration=4, ended="it is found", trying=(), decided_at=300)
    lines.concluded(state.concluded(progress), progress.ended)
    for number, finalist in enumerate(finalists, 1):
        lines.compared(state, finalist, number)
    selected = state.selected(replace(progress, trying=None, finalists=finalists), finalists[1])
    assert selected.alive == {switch.name for switch in planned.switches} - {"cell_0:h.0.pool"}
    assert (selected.parameters, selected.flops) == (15_000, 300_000)
    assert selected.outline.total_steps == 400, "one finalist less than planned"
    lines.noted(selection(selected, 2))
    lines.noted(selection(selected, 1))
    assert capsys.readouterr().out.splitlines() == [
        "note   it is found; 3 finalists are trained from scratch, 40 steps each",
        "finalist 1/3  held-out 0.643  loss 1.0312  parameters 15,000  multiply-adds 300,000",
        "finalist 2/3  held-out 0.643  loss 0.9715  parameters 15,000  multiply-adds 300,000",
        "note   finalist 2 of 2 has the smallest held-out loss: it replaces the architecture of the last update; "
        "20 more steps train its weights",
        "note   finalist 1 of 2 has the smallest held-out loss: the architecture of the last update; "
        "20 more steps train its weights",
    ]


def test_resuming_is_reported() -> None:
    assert head(updated(standing()))[-1] == "resumes        after step 150, with 19 switches open"
    assert "resumes" not in "\n".join(head(standing()))


def test_phases() -> None:
    found = outline()
    assert [found.phase(step) for step in (0, 100, 101, 150, 151, 300)] == [
        "warm-up", "warm-up", "iteration 1/4", "iteration 1/4", "iteration 2/4", "iteration 4/4",
    ]  # fmt: skip
    without = replace(found, warmup=0)
    assert without.phase(0) == "iteration 1/4"


def test_the_end_is_known_once_the_architecture_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    before = logged(updated(standing(outline(finish=20))), 200)
    assert before.outline.total_steps == 320
    verdict = Verdict("cell_1:h.2.zero", False, Why.LIMIT, 1.0, 1.0, 1.0, None, (), (), (), ())
    found = before.concluded(
        SearchProgress(step=200, iteration=2, ended="it is found", closed=(verdict,), last_step=220)
    )
    assert found.alive == before.alive - {"cell_1:h.2.zero"}
    assert found.outline.total_steps == 220
    assert [found.outline.phase(step) for step in (200, 201, 220)] == ["iteration 2/2", "finish", "finish"]
    SearchLines().concluded(found, "it is found")
    SearchLines().logged(logged(found, 210))
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "note   it is found; 20 more steps train its weights"
    assert told[1].startswith("step 210/220  finish         loss")


def test_what_was_closed() -> None:
    before = standing()
    assert closed_text(before, before) == "closed none"
    assert closed_text(before, updated(before, closed=2)) == (
        f"closed 2: {whole('cell_0 h[0]: conv')}, {whole('cell_0 h[0]: pool')}"
    )


# ------------------------------------------------------------------------------------- the end


def test_architecture() -> None:
    switches = outline(parts=1, choices=2).switches
    optional = OutlineSwitch("m", "net", "y <- x", "optional", "optional")
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
    warning = too_large(result, missed, SearchConfig(lambda_w=0.02))
    assert warning is not None
    assert (warning.code, warning.severity) == ("NAS608", "warning")
    assert "300 parameters and takes 4,000 multiply-adds, not `params < 200` and `flops <= 3,999`" in warning.message
    assert too_large(result, [], SearchConfig()) is None
    for strategy, advice in (("bayes", "bayesnas-graph stats"), ("bayesnas", "--lambda"), ("darts", "--target-params")):
        warning = too_large(result, missed, SearchConfig(strategy=strategy))
        assert warning is not None
        assert advice in (warning.help or "")


# ------------------------------------------------------------------------------------- real searches


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.nas").write_text(TINY.replace("linear(10)\n", "linear(10)\n    require params < 100\n"))
    settings = SHORT | {"strategy": "bayesnas", "gate_rate": 0.1, "lambda": 0.01, "curvature": "ggn"}
    (tmp_path / "short.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    return tmp_path


def test_a_search_in_lines(run: Run, here: Path) -> None:
    result = run("search", "tiny.nas", "--config", "short.toml", "--allow-python", "-o", "first")
    assert result.code == 0
    kinds = [line.split()[0] for line in result.out.splitlines() if line.startswith(("step ", "update ", "note "))]
    assert "/36  finish " in result.out
    assert "/28  " not in result.out
    assert [kind for kind in kinds if kind != "note"] == [
        *["step"] * 6,
        "update",
        *["step"] * 4,
        "update",
        *["step"] * 4,
        "update",
        *["step"] * 4,
    ]
    assert result.out.startswith(
        "searching tiny.nas\ndata           tests.search.spaces:tiny_data (from short.toml)\nrun            first\n"
        "search         network net of tiny.nas on tests.search.spaces"
    )
    assert "warning[NAS607]" in result.err
    assert "warning[NAS608]" in result.err
    assert "h <- x    " in result.out
    assert "view it with\n  bayesnas-graph report first\n" in result.out
    assert result.out.endswith("derive a network with\n  bayesnas-graph derive first\n")
    written = re.search(r"^wrote (.*) and (\S+) to first$", result.out, re.MULTILINE)
    assert written is not None
    assert all((here / "first" / name).is_file() for name in (*written[1].split(", "), written[2]))
    again = run("search", "tiny.nas", "--config", "short.toml", "--allow-python", "-o", "second").out

    def steady(text: str) -> str:
        """The text without the times at the ends of lines."""
        return re.sub(r"(?m) +(\S+ ms  left \S+|\S+ s)$", "", text)

    assert steady(result.out) == steady(again).replace("second", "first")
    assert steady(result.out) != result.out


def test_the_default_strategy_in_lines(run: Run, here: Path) -> None:
    """It has no shrink budget to tell of, and meets what the network requires if it can."""
    for require, missed in (("params < 100", True), ("params < 150", False)):
        (here / "tiny.nas").write_text(TINY.replace("linear(10)\n", f"linear(10)\n    require {require}\n"))
        name = f"missed-{missed}"
        result = run(
            "search", "tiny.nas", "--config", "short.toml", "--allow-python", "--strategy", "bayes", "-o", name
        )
        assert result.code == 0
        assert "shrink" not in result.out
        assert result.out.count("\nupdate ") == 3
        assert re.findall(r"\w+\[NAS\d+\]", result.err) == ["warning[NAS608]"] * missed


def test_a_search_on_a_terminal_that_goes_away(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = pty.openpty()
    seen: list[bytes] = []

    def look() -> None:
        while b"\x1b[?25l" not in b"".join(seen):  # the live part hides the cursor
            seen.append(os.read(outer, 65536))
        os.close(outer)

    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(inner, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        eye = Thread(target=look)
        eye.start()
        result = run("search", "tiny.nas", "--config", "short.toml", "--allow-python", "-o", "run")
    eye.join()
    assert result.code == 0
    assert not re.search(rb"^step +\d", b"".join(seen), re.MULTILINE)
    assert (here / "run" / "result.json").exists()
    assert re.findall(r"\w+\[NAS\d+\]", result.err) == ["warning[NAS607]", "warning[NAS608]"]
    assert "Traceback" not in result.err


def test_a_closed_output_pipe() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    script = "from bayesnas_graph.cli.console import say\nfor number in range(9): say('x' * 9999)"
    result = subprocess.run([sys.executable, "-c", script], stdout=writing, stderr=subprocess.PIPE, cwd=ROOT)
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, b"")
