"""A system end to end, on a small scale, in this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bayesnas_graph.cli.main import main
from bayesnas_graph.language.elaborate import load_network
from benchmarks import systems
from benchmarks.systems import TRAININGS, TRANSFERS, Step, System, Training
from tests.runs.test_recipes import SYSTEMS
from tests.search.spaces import TINY

RECIPE = """# For tests.
data = "digits"
batch = 20
iterations = 1
steps = 2
warmup = 1
finish = 0
finalists = 0
threads = 1
"""
TRAIN = "--data digits --epochs 1 --batch 50 -s cutout=0 -s crop=0 -s threads=1"


def program(*words: str) -> int:
    """Call the program in this process; return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["bayesnas-graph", *words])
        with pytest.raises(SystemExit) as exit:
            main()
    return int(exit.value.code or 0)


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The steps that were run, each as a call of the program in this process."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.nas").write_text(TINY)
    Path("tiny.quick.toml").write_text(RECIPE)
    monkeypatch.setitem(TRAININGS, ("tiny.nas", "quick"), Training(TRAIN))
    names = []

    def call(step: Step) -> int:
        names.append(" ".join(step.command[:2]))
        capsys.readouterr()
        code = program(*step.command)
        if step.keep_output:
            step.product.write_text(capsys.readouterr().out)
        return code

    monkeypatch.setattr(systems, "_call", call)
    return names


def test_every_step_is_done_once(called: list[str], tmp_path: Path) -> None:
    system = System("tiny.nas", "quick", Path("out"), Path("data"))
    system.run()
    assert called == [
        "search tiny.nas", "derive out/search", "export out/search", "train out/derived/network.nas", "eval out/train",
    ]  # fmt: skip
    space, recipe, closed, parameters, accuracy, minutes = system.row()
    assert (space, recipe) == ("tiny.nas", "quick")
    assert closed.endswith(f" of {len(json.loads(Path('out/search/decision.json').read_text())['verdicts'])}")
    assert int(parameters.replace(",", "")) > 0
    assert 0 <= float(accuracy) <= 1
    assert float(minutes) >= 0
    called.clear()
    system.run()
    assert called == []
    Path("out/search/result.json").unlink()
    Path("out/eval.json").unlink()
    system.run()
    assert called == ["search --resume", "eval out/train"]
    with pytest.raises(SystemExit, match="started with other options"):
        System("tiny.nas", "quick", Path("out"), Path("data"), ("--seed", "1")).run()


def test_a_failure_stops_it(called: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("tiny.quick.toml").write_text("rate = -1\n")
    with pytest.raises(SystemExit) as exit:
        System("tiny.nas", "quick", Path("out"), Path("data")).run()
    assert exit.value.code == 1
    assert called == ["search tiny.nas"]
    assert "`search` did not finish; run the same command again to continue" in capsys.readouterr().out


def test_commands_are_printed_and_their_output_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/echo")
    assert systems._call(Step("eval", ("eval", "a b"), tmp_path / "kept", keep_output=True)) == 0
    assert capfd.readouterr().out == "\n$ bayesnas-graph eval 'a b'\n-m bayesnas_graph eval a b\n"
    assert (tmp_path / "kept").read_text() == "-m bayesnas_graph eval a b\n"


def test_options_after_two_dashes_are_for_the_search(called: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[System] = []
    monkeypatch.setattr(System, "run", lambda system: seen.append(system))
    monkeypatch.setattr(System, "row", lambda _: ("",) * 6)
    monkeypatch.setattr(sys, "argv", ["systems", "darts", "--recipe", "paper", "-o", "out", "--", "--lambda", "0.01"])
    systems.main()
    assert seen == [System("darts", "paper", Path("out/darts-paper"), Path("data"), ("--lambda", "0.01"))]


@pytest.mark.parametrize("space", SYSTEMS)
def test_every_system_is_trained_at_both_sizes(space: str) -> None:
    for recipe in ("quick", "paper"):
        training = TRAININGS[space, recipe]
        assert program("train", *training.train.split(), "--settings") == 0


def test_cells_of_darts_can_be_transferred() -> None:
    """Every network that they are put into has the switches of the one that was searched."""
    assert set(TRANSFERS) == {"darts"}
    groups = [
        {gate.group for gate in load_network(Path("darts"), name, values).network.graph().gates}
        for name, values in (("search", {"width": 4, "cells": 4}), ("evaluation", {"cells": 4}), ("imagenet", {}))
    ]
    assert groups[0] == groups[1] == groups[2]
