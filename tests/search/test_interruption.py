"""A search that is killed or interrupted gives the same result after resuming."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from bayesnas_graph.bayes import LOOKS
from bayesnas_graph.runs import signals
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.signals import stopping
from bayesnas_graph.search.events import StepRow
from tests.search.launcher import Launcher
from tests.search.runs import assert_same, assert_same_run, checkpoints, is_row, results, table
from tests.search.spaces import Notes, asked_often, problem, search, searched

BEGIN = ("search", "tiny.nas", "--config", "short.toml", "--allow-python")
OFTEN = ("-s", "log_steps=1", "-s", "checkpoint_steps=1", "--steps", "12")
KILLS = 12


@pytest.fixture(scope="session")
def whole(programs: Launcher) -> Path:
    """An uninterrupted run."""
    assert programs.run(*BEGIN, "-o", "whole")[0] == 0
    assert "0" in {row["keep"] for row in table(programs.folder / "whole", "switches.csv")}, "some switches close"
    for content in checkpoints(programs.folder / "whole" / "checkpoints").values():
        assert set(content["beliefs"]) == set(LOOKS)
        assert bool((content["beliefs"]["weight"] + content["beliefs"]["new"]).all())
    return programs.folder / "whole"


# ------------------------------------------------------------------------------------------ killed


def test_killed_again_and_again(programs: Launcher) -> None:
    """At any time: during start-up, between two steps, while a checkpoint is written."""
    assert programs.run(*BEGIN, *OFTEN, "-o", "calm")[0] == 0
    random, kills = Random(0), 0
    program = programs.start(*BEGIN, *OFTEN, "-o", "killed")
    assert program.until(is_row)
    while True:
        for _ in range(random.randint(0, 3)):
            program.until(is_row)
        time.sleep(random.uniform(0, 0.03))  # about as long as a step takes, with all that is written after it
        program.signal(signal.SIGKILL)
        code, printed = program.ended()
        if code == 0:
            break
        assert code == -signal.SIGKILL, printed
        kills += 1
        program = programs.start("search", "--resume", "killed", "--allow-python")
        if kills == KILLS:
            assert program.ended()[0] == 0
            break
    assert kills >= 10
    assert_same_run(programs.folder / "calm", programs.folder / "killed")


class Killed(BaseException):
    """An exception that simulates a kill: nothing handles it."""


@pytest.mark.parametrize("moment", ["open", "fsync", "replace"])
def test_killed_at_every_file(moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once at each moment when a checkpoint is half written."""
    expected = searched(tmp_path / "calm")
    real = {"open": Path.open, "fsync": os.fsync, "replace": Path.replace}[moment]
    written = 0

    def once(first: object, *arguments: object, **named: object) -> object:
        nonlocal written
        if moment == "open" and not str(first).endswith(".part"):
            return real(first, *arguments, **named)  # type: ignore[operator]
        written += 1
        if written == 2:
            raise Killed
        return real(first, *arguments, **named)  # type: ignore[operator]

    monkeypatch.setattr(os if moment == "fsync" else Path, moment, once)
    kills = 0
    while True:
        written = 0
        try:
            outcome = searched(tmp_path / "killed")
            break
        except Killed:
            kills += 1
    assert kills == len(expected_saves()) - 1
    assert outcome.decision == expected.decision
    assert outcome.accuracy == expected.accuracy
    assert_same(checkpoints(tmp_path / "calm"), checkpoints(tmp_path / "killed"))


def expected_saves() -> list[int]:
    """The steps after which a short search saves: at the start, every fourth, after each update, and at the end."""
    return [0, 4, 8, 12, 12, 16, 20, 20, 24, 28, 28, 32, 36, 36]


# ----------------------------------------------------------------------------------------- stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_and_resumed(number: signal.Signals, programs: Launcher, whole: Path) -> None:
    name = f"it's a run, {number.name}"
    program = programs.start(*BEGIN, "-o", name)
    for _ in range(3):
        assert program.until(is_row)
    program.signal(number)
    code, printed = program.ended()
    assert code == 130
    assert "stopped after step" in printed
    command = shlex.split(printed.splitlines()[-1])
    assert command == ["bayesnas-graph", "search", "--resume", name, "--allow-python"]
    assert programs.run(*command[1:])[0] == 0
    assert_same_run(whole, programs.folder / name, tables=("updates", "switches"))
    steps = [int(row["step"]) for row in table(programs.folder / name, "metrics.csv")]
    assert steps == sorted(set(steps))
    assert {*range(2, 37, 2)} <= set(steps)


@pytest.mark.parametrize("strategy", ["bayes", "bayesnas"])
def test_stopped_every_few_steps(strategy: str, tmp_path: Path) -> None:
    expected, stops = searched(tmp_path / "whole", strategy=strategy), 0
    while True:
        stopped = search(problem(strategy=strategy), tmp_path / "stopped", stop=asked_often(4))
        try:
            outcome = stopped.run()
            break
        except Interrupted:
            stops += 1
    assert stops >= 8
    assert outcome.decision == expected.decision
    saved = [checkpoints(tmp_path / name)["step-000000036.pt"] for name in ("whole", "stopped")]
    for one in saved:
        del one["progress"]["first_loss"]  # the mean over the steps until the first stop
    assert_same(*saved)


def test_a_run_that_has_ended_ends_again(programs: Launcher, whole: Path) -> None:
    before = results(whole), table(whole, "metrics.csv"), checkpoints(whole / "checkpoints")
    code, printed = programs.run("search", "--resume", "whole", "--allow-python")
    assert code == 0
    assert not [line for line in printed.splitlines() if is_row(line)]
    assert_same(before, (results(whole), table(whole, "metrics.csv"), checkpoints(whole / "checkpoints")))


def test_impatience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second Ctrl-C, while the state is being saved after the first."""
    expected = searched(tmp_path / "whole")
    monkeypatch.setattr(signals, "AGAIN", 0.0)
    fsync, given = os.fsync, problem()

    def impatient(file: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        fsync(file)

    with stopping() as stop:

        def lose_patience() -> None:
            os.kill(os.getpid(), signal.SIGINT)
            monkeypatch.setattr(os, "fsync", impatient)

        with pytest.raises(KeyboardInterrupt):
            search(given, tmp_path / "stopped", Afterwards(3, lose_patience), stop).run()
    monkeypatch.undo()
    left = sorted(path.name for path in (tmp_path / "stopped").iterdir())
    assert left == ["step-000000000.pt", "step-000000004.pt"]
    assert searched(tmp_path / "stopped").decision == expected.decision
    assert_same(checkpoints(tmp_path / "whole"), checkpoints(tmp_path / "stopped"))


class Afterwards(Notes):
    """Calls a function after some rows."""

    def __init__(self, rows: int, act: Callable[[], None]) -> None:
        super().__init__()
        self.wanted, self.act = rows, act

    def logged(self, row: StepRow) -> None:
        super().logged(row)
        if len(self.rows) == self.wanted:
            self.act()


def test_a_signal_that_comes_twice_at_once_counts_once() -> None:
    """As when `torchrun` forwards a signal."""
    before = signal.getsignal(signal.SIGINT)
    with stopping() as stop:
        assert not stop()
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        assert stop()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_terminal_that_closes_is_no_impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell and the system may both send the signal, a while apart."""
    monkeypatch.setattr(signals, "AGAIN", 0.0)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with stopping() as stop:
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGHUP)
            assert stop()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_signals_are_left_alone_beside_the_main_thread() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: stopping().__enter__()()).result() is False


# ------------------------------------------------------------------------------- two at the same time


def test_one_process_at_a_time(programs: Launcher) -> None:
    first = programs.start(*BEGIN, "-o", "busy", "--steps", 100_000)
    assert first.until(is_row)
    manifest = (programs.folder / "busy" / "run.json").read_bytes()
    code, printed = programs.run("search", "--resume", "busy", "--allow-python")
    assert code == 1
    assert "error[NAS602]: another process is using `busy`\n = help: wait until it ends, or stop it\n" in printed
    code, printed = programs.run(*BEGIN, "-o", "busy")
    assert code == 1
    assert "error[NAS602]: `busy` already exists\n" in printed
    assert (programs.folder / "busy" / "run.json").read_bytes() == manifest
    first.signal(signal.SIGKILL)
    first.ended()
    second = programs.start("search", "--resume", "busy", "--allow-python")
    assert second.until(is_row), "one that was killed holds nothing"
    second.signal(signal.SIGINT)
    assert second.ended()[0] == 130
