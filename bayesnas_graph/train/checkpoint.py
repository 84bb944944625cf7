"""The whole state of a training in a file."""

from __future__ import annotations

from pathlib import Path

from bayesnas_graph.runs.checkpoints import Content, Saved
from bayesnas_graph.runs.device import Place
from bayesnas_graph.train.course import Course
from bayesnas_graph.train.learner import Learner, begin
from bayesnas_graph.train.progress import Progress


class Checkpoints(Saved):
    """The checkpoints of a training."""

    def save(self, learner: Learner, progress: Progress) -> Path:
        """Write one, and remove those that are too many. Raises NasError if there is no room; all others stay."""
        return self.write(progress.step, {"progress": progress.to_plain(), **learner.to_plain()})

    def last(self, course: Course, place: Place) -> tuple[Learner, Progress] | None:
        """The newest, or None if there is none. Raises NasError if it cannot be read or is of another network."""

        def restore(content: Content) -> tuple[Learner, Progress]:
            learner = begin(course, place)
            learner.take(content["weights"], content["mean"], content["memory"], content["scaler"])
            return learner, Progress(**content["progress"])

        return self.read(place, restore)
