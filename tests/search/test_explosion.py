"""An exploding loss: the search rolls back with smaller steps, and finally gives up."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.search import loop
from bayesnas_graph.search.events import SearchRecorder
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategy import Rates
from tests.search.launcher import Launcher
from tests.search.runs import assert_same, checkpoints, table
from tests.search.spaces import Notes, asked_often, problem, search, searched

RISING: dict[str, Any] = {"schedule": "constant", "rate_warmup": 10}  # 0.005 in the first step, 0.05 in the tenth


@pytest.fixture
def explode(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replaces the loss in each step whose learning rate is above a limit."""

    def at(limit: float, loss: float = torch.nan) -> None:
        def step(learner: SearchLearner, batch: Any, rates: Rates, held_out: Any = None) -> Any:
            found, right = train_step(learner, batch, rates, held_out)
            return (torch.full_like(found, loss), right) if rates.weights > limit else (found, right)

        monkeypatch.setattr(loop, "train_step", step)

    return at


@pytest.mark.parametrize("loss", [torch.nan, torch.inf, 100.0])
def test_back_to_the_last_checkpoint(loss: float, explode: Callable[..., None], tmp_path: Path) -> None:
    explode(0.033, loss)
    notes = Notes()
    outcome = searched(tmp_path, watcher=notes, **RISING)
    assert outcome.why == "all iterations are done"
    (message,) = notes.messages
    assert message.endswith("at step 8: back to step 4, learning rates at 0.5 of the setting")
    assert [progress.step for progress in notes.starts] == [0, 4]
    assert [row.step for row in notes.rows] == [2, 4, 6, *range(6, 37, 2)]
    assert max(row.rate for row in notes.rows[3:]) == pytest.approx(0.025)
    assert all(row.loss == row.loss for row in notes.rows)


def test_in_the_very_first_step(explode: Callable[..., None], tmp_path: Path) -> None:
    explode(0.02)
    notes = Notes()
    searched(tmp_path, watcher=notes, schedule="constant")
    assert len(notes.messages) == 2
    assert {row.rate for row in notes.rows if row.step <= 28} == {0.05 / 4}
    assert [progress.step for progress in notes.starts] == [0, 0, 0]


def test_giving_up(explode: Callable[..., None], tmp_path: Path) -> None:
    explode(0.0)
    notes = Notes()
    for _ in range(2):  # going on is of no use either
        with pytest.raises(NasError) as error:
            searched(tmp_path, watcher=notes)
        (diagnostic,) = error.value.diagnostics
        assert diagnostic.code == "NAS605"
        assert diagnostic.message == "the loss exploded again, to nan at step 2, after 3 tries"
    assert len(notes.messages) == 3
    assert list(checkpoints(tmp_path)) == ["step-000000000.pt"]


def test_weights_that_are_lost_in_the_step_before_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss is still finite then: it is computed before the weights change."""
    steps = count()

    def step(learner: SearchLearner, batch: Any, rates: Rates, held_out: Any = None) -> Any:
        found = train_step(learner, batch, rates, held_out)
        if next(steps) == 7:
            with torch.no_grad():
                next(iter(learner.supernet.module.parameters())).flatten()[0] = torch.inf
        return found

    monkeypatch.setattr(loop, "train_step", step)
    notes = Notes()
    searched(tmp_path, watcher=notes)
    assert [progress.step for progress in notes.starts] == [0, 4]
    assert_sound(tmp_path)


def assert_sound(folder: Path) -> None:
    for content in checkpoints(folder).values():
        assert all(value.isfinite().all() for value in content["weights"].values())


def test_interrupted_on_the_way(explode: Callable[..., None], tmp_path: Path) -> None:
    """The checkpoint of an interruption may be newer than the others; then the search goes back less far."""
    explode(0.033)
    run, given, stops = RunFolder(tmp_path), problem(**RISING, log_steps=1), 0
    while True:
        try:
            search(given, run.checkpoints, SearchRecorder(run, "tiny"), asked_often(5)).run()
            break
        except Interrupted:
            stops += 1
    assert stops > 8
    assert [int(row["step"]) for row in table(run.path, "metrics.csv")] == list(range(1, 37))


def test_killed_on_the_way(explode: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explode(0.033)
    runs = [RunFolder(tmp_path / name) for name in ("whole", "killed")]
    for run in runs:
        run.path.mkdir()
    given = problem(**RISING)
    search(given, runs[0].checkpoints, SearchRecorder(runs[0], "tiny")).run()

    class Killed(BaseException):
        pass

    class Deadly(SearchRecorder):
        def logged(self, row: Any) -> None:
            super().logged(row)
            if next(rows) == 2:
                raise Killed

    for _ in range(20):
        rows = count()
        try:
            search(given, runs[1].checkpoints, Deadly(runs[1], "tiny")).run()
            break
        except Killed:
            pass
    assert_same(*(checkpoints(run.checkpoints) for run in runs))
    assert_same(*(table(run.path, "metrics.csv") for run in runs))


def test_a_rate_that_is_far_too_high(programs: Launcher) -> None:
    code, printed = programs.run(
        *(
            "search",
            "tiny.nas",
            "--config",
            "short.toml",
            "--allow-python",
            "-o",
            "fast",
            "-s",
            "rate=1e6",
            "-s",
            "clip=0",
        )
    )
    assert code == 1
    assert printed.count("learning rates at") == 3
    assert "error[NAS605]: the loss exploded again" in printed
    assert "help: lower `rate`" in printed
    assert_sound(programs.folder / "fast" / "checkpoints")
