"""A training as it is shown: lines of text, and on a terminal a bar below them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO, cast

from bayesnas_graph.cli.console import labelled, note, say
from bayesnas_graph.cli.standing import duration

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from bayesnas_graph.runs.subject import Subject
    from bayesnas_graph.train.course import Course
    from bayesnas_graph.train.events import Row
    from bayesnas_graph.train.progress import Progress


@dataclass
class Lines:
    """A head, then a line for every epoch. Times stand last, for they differ from run to run."""

    subject: Subject
    device: str
    epochs: int = 0
    shown: bool = False  # whether the head is

    def begun(self, course: Course, progress: Progress) -> None:
        self.epochs = course.config.epochs
        if not self.shown:
            for line in self.head(course, progress):
                self.say(line)
        self.shown = True

    def head(self, course: Course, progress: Progress) -> list[str]:
        """What is said in the beginning."""
        return head(self.subject, course, progress, self.device)

    def close(self) -> None:
        """Nothing is shown any more."""

    def stepped(self, step: int, loss: float) -> None:
        pass

    def tested(self, row: Row) -> None:
        self.say(epoch_line(row, self.epochs))

    def said(self, text: str) -> None:
        self.say(note(text))

    def say(self, text: str) -> None:
        say(text)


@dataclass
class Bar(Lines):
    """The same with a bar over the steps of the whole training."""

    stream: TextIO = field(default_factory=lambda: sys.stdout)
    _bar: RichProgress | None = None
    _task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def begun(self, course: Course, progress: Progress) -> None:
        super().begun(course, progress)
        if self._bar is None:
            self._bar = _new_bar(self.stream)
            self._task = self._bar.add_task("", total=course.total_steps, loss=" " * 6)
            self._bar.start()
        self._move(completed=progress.step)

    def stepped(self, step: int, loss: float) -> None:
        self._move(completed=step, loss=f"{loss:<6.4g}")

    def say(self, text: str) -> None:
        if self._bar is None:
            say(text)
        else:
            self._bar.console.print(text, markup=False, soft_wrap=True)

    def _move(self, **fields: object) -> None:
        assert self._bar is not None, "a training begins before it goes on"
        assert self._task is not None, "likewise"
        self._bar.update(self._task, **fields)  # type: ignore[arg-type]


def _new_bar(stream: TextIO) -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    from bayesnas_graph.cli.console import use_color
    from bayesnas_graph.cli.live import Lasting

    console = Console(
        file=cast("TextIO", Lasting(stream)), no_color=not use_color(stream), highlight=False, force_terminal=True
    )
    columns = TextColumn("loss {task.fields[loss]}"), BarColumn(), MofNCompleteColumn(), TextColumn("steps, left")
    return RichProgress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        refresh_per_second=2,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def head(subject: Subject, course: Course, progress: Progress, device: str) -> list[str]:
    """What is trained, on what, for how long."""
    from bayesnas_graph.passes.analysis import cost
    from bayesnas_graph.train.auxiliary import place_of_head
    from bayesnas_graph.train.paths import paths

    config, found = course.config, cost(course.graph)
    trained = f"network {subject.network.name} of {subject.name} on {course.data.name}"
    rows = [
        ("train", f"{trained}, {device}, seed {config.seed}"),
        ("epochs", f"{config.epochs:,} of {course.steps_per_epoch:,} steps: {course.total_steps:,}"),
        ("weights", f"{found.parameters:,}"),
        ("multiply-adds", f"{found.flops:,} per sample"),
    ]
    if config.drop_path:
        chance = f"a chance that rises to {config.drop_path:g}"
        rows.append(("paths", f"{len(paths(course.graph)):,} that are dropped with {chance}"))
    if config.auxiliary:
        rows.append(("auxiliary head", f"on {place_of_head(course.graph, config.auxiliary_at)}"))
    if progress.step:
        rows.append(("goes on", f"after step {progress.step:,}"))
    return [labelled(label, text) for label, text in rows]


def epoch_line(row: Row, epochs: int) -> str:
    """An epoch in a line."""
    return (
        f"epoch {row.epoch:>{len(str(epochs))}}/{epochs}  loss {row.loss:<7.4g}  accuracy {row.accuracy:.4f}  "
        f"test {row.test_accuracy:.4f}  rate {row.rate:<8.3g}  "
        f"{row.seconds:.1f} s  left {duration((epochs - row.epoch) * row.seconds)}"
    )
