"""The whole state of a training run in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bayesnas_graph.runs.checkpoints import Checkpoints, Content
from bayesnas_graph.runs.device import Device
from bayesnas_graph.train.learner import TrainLearner, new_learner
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.progress import TrainProgress


class TrainCheckpoints(Checkpoints):
    """The checkpoints of a training run."""

    def save(self, learner: TrainLearner, progress: TrainProgress) -> Path:
        """Write a checkpoint and remove old ones. Raises NasError if the disk is full; the others stay intact."""
        return self.write(progress.step, {"progress": progress.to_plain(), **learner.to_plain()})

    def last(
        self,
        problem: TrainingProblem,
        device: Device,
        is_possible: Callable[[TrainProgress], bool] = lambda _: True,
        tell: Callable[[str], None] = lambda _: None,
    ) -> tuple[TrainLearner, TrainProgress] | None:
        """Return the newest good checkpoint, or None. Raises NasError if all are bad or belong to another network."""

        def restore(content: Content) -> tuple[TrainLearner, TrainProgress]:
            progress = TrainProgress.from_plain(content["progress"])
            if not is_possible(progress):
                raise ValueError("the progress of another run")
            learner = new_learner(problem, device)
            learner.take(content["weights"], content["mean"], content["memory"], content["scaler"])
            return learner, progress

        return self.last_good(device, restore, tell)
