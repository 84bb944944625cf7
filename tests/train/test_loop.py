"""A training run that is killed or interrupted gives the same result after resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph.codegen.emit import build
from bayesnas_graph.data import load
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.tables import read_table
from bayesnas_graph.runtime import use_channels_last
from bayesnas_graph.train import loop
from bayesnas_graph.train.checkpoint import TrainCheckpoints
from bayesnas_graph.train.events import EpochRow, TrainRecorder
from bayesnas_graph.train.learner import TrainLearner
from bayesnas_graph.train.loop import TrainOutcome
from bayesnas_graph.train.measure import score
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.step import train_step
from tests.helpers import network
from tests.search.runs import assert_same, checkpoints, table
from tests.search.spaces import asked_often
from tests.train.networks import FIXED, STEPS, Notes, config, device, problem, trained, training


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TrainOutcome, Notes]:
    """A training that nobody disturbs."""
    torch.set_num_threads(1)
    folder, notes = tmp_path_factory.mktemp("whole"), Notes()
    return folder, trained(folder, watcher=notes), notes


def assert_same_outcome(one: TrainOutcome, other: TrainOutcome) -> None:
    assert one.score == other.score
    assert_same(one.weights, other.weights)
    assert one.program == other.program


def test_it_learns(tmp_path: Path) -> None:
    """Digits are classified far better than by chance."""
    settings = config(batch=32, rate=0.1, drop_path=0.05, cutout=0, crop=0, flip=False, checkpoint_steps=100)
    notes, digits = Notes(), load("digits", tmp_path)
    outcome = training(TrainingProblem.of(network(FIXED), digits, settings), tmp_path, notes).run()
    assert notes.rows[-1].loss < 0.7 * notes.rows[0].loss
    assert outcome.score.accuracy > 0.5


def test_events(whole: tuple[Path, TrainOutcome, Notes]) -> None:
    _, outcome, notes = whole
    given = problem()
    assert [(row.epoch, row.step) for row in notes.rows] == [(1, 10), (2, 20), (3, 30)]
    assert list(notes.losses) == [*range(2, 31, 2)]
    for row in notes.rows:
        parts = [notes.losses[step] for step in range(row.step - STEPS + 2, row.step + 1, 2)]
        assert row.loss == pytest.approx(sum(parts) / len(parts), rel=1e-5)
        assert row.rate == pytest.approx(given.rate(row.step - 1))
    last = notes.rows[-1]
    assert (outcome.score.loss, outcome.score.accuracy) == (last.test_loss, last.test_accuracy)


def test_the_score_is_that_of_the_weights_that_are_given_away(whole: tuple[Path, TrainOutcome, Notes]) -> None:
    outcome = whole[1]
    network = build(outcome.program)
    network.load_state_dict(outcome.weights)
    use_channels_last(network)
    found = score(network, problem().test_batches(device(config())), device(config()), problem().objective)
    assert found == outcome.score
    assert "bayesnas_graph" not in outcome.program.text, "it needs torch alone"


def test_stopped_every_few_steps(whole: tuple[Path, TrainOutcome, Notes], tmp_path: Path) -> None:
    run, stops = RunFolder(tmp_path), 0
    while True:
        try:
            outcome = training(problem(), run.checkpoints, TrainRecorder(run), asked_often(3)).run()
            break
        except Interrupted:
            stops += 1
    assert stops >= 8
    assert_same_outcome(outcome, whole[1])
    mine, theirs = (max(checkpoints(folder).items())[1] for folder in (run.checkpoints, whole[0]))
    for one in (mine, theirs):
        del one["progress"]["first_loss"]  # the mean over the steps until the first stop
    assert_same(mine, theirs)
    assert [row["loss"] for row in read_table(run.metrics)] == [f"{row.loss:.6g}" for row in whole[2].rows]


def test_augmented_batches_are_the_same_after_a_stop(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"mixup": 0.4, "cutmix": 1.0, "rand_augment": 2, "resized_crop": 0.3, "jitter": 0.3}
    expected, stops = trained(tmp_path / "whole", epochs=1, **settings), 0
    while True:
        try:
            given = problem(epochs=1, **settings)
            outcome = training(given, tmp_path / "stopped", stop=asked_often(3)).run()
            break
        except Interrupted:
            stops += 1
    assert stops >= 2
    assert_same_outcome(outcome, expected)
    assert trained(tmp_path / "plain", epochs=1).score.loss != expected.score.loss


class Killed(BaseException):
    """An exception that simulates a kill: nothing handles it."""


def test_killed_between_a_row_and_its_checkpoint(whole: tuple[Path, TrainOutcome, Notes], tmp_path: Path) -> None:
    run, kills = RunFolder(tmp_path), 0

    class Deadly(TrainRecorder):
        def epoch_ended(self, row: EpochRow) -> None:
            super().epoch_ended(row)
            if row.epoch > kills:
                raise Killed

    while True:
        try:
            outcome = training(problem(), run.checkpoints, Deadly(run)).run()
            break
        except Killed:
            kills += 1
    assert kills == 3
    assert_same_outcome(outcome, whole[1])
    assert_same(checkpoints(run.checkpoints), checkpoints(whole[0]))
    assert [row["epoch"] for row in table(run.path, "metrics.csv")] == ["1", "2", "3"]


def test_one_that_has_ended_ends_again(whole: tuple[Path, TrainOutcome, Notes]) -> None:
    notes, before = Notes(), checkpoints(whole[0])
    assert_same_outcome(trained(whole[0], watcher=notes), whole[1])
    assert not notes.losses
    assert_same(checkpoints(whole[0]), before)


def test_checkpoints_that_are_kept(whole: tuple[Path, TrainOutcome, Notes], tmp_path: Path) -> None:
    assert list(checkpoints(whole[0])) == [f"step-{step:09}.pt" for step in (24, 28, 30)]
    trained(tmp_path, epochs=2, keep=1)
    assert list(checkpoints(tmp_path)) == ["step-000000016.pt", "step-000000020.pt"], "one to go back to"


def test_a_checkpoint_of_another_network(tmp_path: Path, whole: tuple[Path, TrainOutcome, Notes]) -> None:
    with pytest.raises(NasError) as error:
        TrainCheckpoints(whole[0], fingerprint="another").last(problem(), device(config()))
    assert error.value.diagnostics[0].code == "NAS604"
    with pytest.raises(NasError, match="it does not belong to this run") as error:
        TrainCheckpoints(whole[0]).last(problem(FIXED.replace("width = 4", "width = 6")), device(config()))
    assert error.value.diagnostics[0].code == "NAS603"


# ---------------------------------------------------------------------------------------- explosions


def explode(monkeypatch: pytest.MonkeyPatch, limit: float, loss: float = torch.nan) -> None:
    """Replace the loss in each step whose learning rate is above a limit."""

    def step(learner: TrainLearner, batch: Any, step: int, slowdown: float = 1.0) -> Any:
        found, right = train_step(learner, batch, step, slowdown)
        return (
            (torch.full_like(found, loss), right) if learner.problem.rate(step) * slowdown > limit else (found, right)
        )

    monkeypatch.setattr(loop, "train_step", step)


@pytest.mark.parametrize("loss", [torch.nan, 100.0])
def test_back_to_the_last_checkpoint(loss: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explode(monkeypatch, 0.033, loss)
    notes = Notes()
    trained(tmp_path, watcher=notes, schedule="constant", rate_warmup=10)
    (message,) = notes.messages
    assert message.endswith("at step 8: back to step 4, learning rate at 0.5 of the setting")
    assert [progress.step for progress in notes.starts] == [0, 4]
    assert [row.epoch for row in notes.rows] == [1, 2, 3]
    assert notes.rows[-1].rate == pytest.approx(0.025)


def test_giving_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explode(monkeypatch, 0.0)
    notes = Notes()
    with pytest.raises(NasError) as error:
        trained(tmp_path, watcher=notes)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS605"
    assert diagnostic.message == "the loss exploded again, to nan at step 2, after 3 tries"
    assert len(notes.messages) == 3


def test_weights_that_are_lost_after_the_loss_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[int] = []

    def step(learner: TrainLearner, batch: Any, step: int, slowdown: float = 1.0) -> Any:
        found = train_step(learner, batch, step, slowdown)
        if step == 7 and not lost:
            lost.append(step)
            with torch.no_grad():
                next(learner.module.parameters()).flatten()[0] = torch.inf
        return found

    monkeypatch.setattr(loop, "train_step", step)
    notes = Notes()
    outcome = trained(tmp_path, watcher=notes)
    assert [progress.step for progress in notes.starts] == [0, 4]
    assert all(value.isfinite().all() for value in outcome.weights.values())
