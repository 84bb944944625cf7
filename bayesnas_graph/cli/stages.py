"""The stages of a compression as they are shown: trainings, and lines on what goes between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.cli.console import labelled
from bayesnas_graph.cli.epochs import Bar, Lines

if TYPE_CHECKING:
    from bayesnas_graph.train.compress.events import Loop, Stage
    from bayesnas_graph.train.course import Course
    from bayesnas_graph.train.progress import Progress

_TITLES = {
    "dense": "train: the whole network",
    "loops": "remove: under the penalty",
    "fine": "train: what is left",
    "rival": "train: as much removed by magnitude",
}


@dataclass
class _Stages(Lines):
    """A title for every stage, and a line for every loop."""

    stage: str = ""  # which has its title

    def entered(self, stage: Stage) -> None:
        self.close()
        self.shown = stage.name == self.stage  # loops follow one another
        self.stage = stage.name
        if not self.shown:
            self.say("")
            self.say(_TITLES[stage.name])

    def head(self, course: Course, progress: Progress) -> list[str]:
        return stage_head(course, progress)

    def looped(self, loop: Loop) -> None:
        self.say(loop_line(loop))


@dataclass
class StageLines(_Stages):
    """Lines alone."""


@dataclass
class StageBar(_Stages, Bar):
    """Lines with a bar over the steps of a stage."""


def stage_head(course: Course, progress: Progress) -> list[str]:
    """How long a stage takes at most."""
    rows = [("epochs", f"{course.config.epochs:,} of {course.steps_per_epoch:,} steps")]
    if progress.step:
        rows.append(("goes on", f"after step {progress.step:,}"))
    return [labelled(label, text) for label, text in rows]


def loop_line(loop: Loop) -> str:
    """A loop in a line."""
    size = f"{loop.size.parameters:,} weights, {loop.size.operations:,} operations"
    return f"loop {loop.number}  held-out loss {loop.loss:<7.4g}  left: {loop.groups:,} groups, {size}"
