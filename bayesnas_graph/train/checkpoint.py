"""The whole state of a training run in a file."""

from __future__ import annotations

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

    def last(self, problem: TrainingProblem, device: Device) -> tuple[TrainLearner, TrainProgress] | None:
        """Return the newest checkpoint, or None. Raises NasError if it cannot be read or belongs to another network."""

        def restore(content: Content) -> tuple[TrainLearner, TrainProgress]:
            learner = new_learner(problem, device)
            learner.take(content["weights"], content["mean"], content["memory"], content["scaler"])
            return learner, TrainProgress(**content["progress"])

        return self.read(device, restore)
