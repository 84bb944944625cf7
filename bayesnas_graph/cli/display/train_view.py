"""The display of a training run: lines of text, and on a terminal a bar below them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, ClassVar, TextIO

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from bayesnas_graph.cli.console import duration, labelled, note, say
from bayesnas_graph.cli.display.run_view import RunView, show_written
from bayesnas_graph.cli.rich_output import live_console
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.diagnostics.wrapping import whole, wrapped
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.task import Task
from bayesnas_graph.train.auxiliary import place_of_head
from bayesnas_graph.train.events import EpochRow, TrainWatcher
from bayesnas_graph.train.learner import TrainLearner
from bayesnas_graph.train.loop import TrainOutcome
from bayesnas_graph.train.paths import paths
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.progress import TrainProgress
from bayesnas_graph.train.run import TrainTask


@dataclass
class TrainView(RunView, TrainWatcher):
    """A header, then a line for every epoch, and on a terminal a bar. Times come last: they differ between runs."""

    verb: ClassVar[Kind] = "train"

    stream: TextIO = field(default_factory=lambda: sys.stdout)
    subject: str = ""  # network, data and device
    epochs: int = 0
    metric: Metric = ACCURACY
    shown: bool = False  # whether the header was printed
    _bar: RichProgress | None = None

    def opened(self, task: Task[Any, Any], device: Device) -> None:
        super().opened(task, device)
        subject, data = task.subject, task.problem.data.name
        about = f"network {subject.network.name} of {subject.name} on {data}"
        self.subject = f"{about}, {device}, seed {task.config.seed}"
        self.metric = task.problem.objective.metric

    def started(self, problem: TrainingProblem, _learner: TrainLearner, progress: TrainProgress) -> None:
        self.epochs = problem.config.epochs
        if not self.shown:
            for line in self.header(problem, progress):
                self.say(line)
        self.shown = True
        if self.live and self._bar is None:
            self._bar = _new_bar(self.stream)
            self._bar.add_task("", total=problem.total_steps, loss=" " * 6)
            self._bar.start()
        self._move(completed=progress.step)

    def header(self, problem: TrainingProblem, progress: TrainProgress) -> list[str]:
        """Return the lines at the start."""
        return header(self.subject, problem, progress)

    def stepped(self, step: int, loss: float) -> None:
        self._move(completed=step, loss=f"{loss:<6.4g}")

    def epoch_ended(self, row: EpochRow) -> None:
        self.say(epoch_line(row, self.epochs, self.metric))

    def noted(self, text: str) -> None:
        self.say(note(text))

    def closed(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def finished(self, task: TrainTask, outcome: TrainOutcome) -> None:
        folder = task.folder
        say("")
        mean = ", with the running mean of the weights" if task.config.ema else ""
        objective = task.problem.objective
        found = f"{outcome.score.accuracy:.4f}"
        say(labelled(objective.metric.name, f"{bold(found)} on the test set{mean}"))
        say(labelled("loss", f"{outcome.score.loss:.4f}"))
        for name, value in objective.more(outcome.score.loss).items():
            say(labelled(name.upper(), f"{value:.4f}"))
        written = folder.source, folder.weights, folder.result, folder.metrics
        show_written(task, *written, next_steps={"measure it": "eval"})

    def say(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar is None:
            say(text, 2)
        else:
            lines = wrapped(text, self._bar.console.width, 0, 2)
            self._bar.console.print(Text.from_ansi("\n".join(lines)), soft_wrap=True)

    def _move(self, **fields: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], **fields)


def _new_bar(stream: TextIO) -> RichProgress:
    columns = TextColumn("loss {task.fields[loss]}"), BarColumn(), MofNCompleteColumn(), TextColumn("steps, left")
    return RichProgress(
        *columns,
        TimeRemainingColumn(),
        console=live_console(stream),
        transient=True,
        refresh_per_second=2,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def header(subject: str, problem: TrainingProblem, progress: TrainProgress) -> list[str]:
    """Return the header: the network, the data, and the length of training."""
    config, size = problem.config, cost(problem.graph)
    rows = [
        ("train", bold(subject)),
        ("epochs", f"{config.epochs:,} of {problem.steps_per_epoch:,} steps, {problem.total_steps:,} in total"),
        ("parameters", f"{size.parameters:,}"),
        ("multiply-adds", f"{size.flops_text} per sample"),
    ]
    if config.drop_path:
        rows.append(("paths", f"{len(paths(problem.graph)):,}, dropped with probability up to {config.drop_path:g}"))
    if config.auxiliary:
        rows.append(("auxiliary head", f"on {place_of_head(problem.graph, config.auxiliary_at)}"))
    if progress.step:
        rows.append(("resumes", f"after step {progress.step:,}"))
    return [labelled(label, text) for label, text in rows]


def epoch_line(row: EpochRow, epochs: int, metric: Metric = ACCURACY) -> str:
    """Return an epoch as a line."""
    return (
        f"epoch {row.epoch:>{len(str(epochs))}}/{epochs}  loss {row.loss:<7.4g}  {metric.name} {row.accuracy:.4f}  "
        f"test {row.test_accuracy:.4f}  rate {row.rate:<8.3g}  "
        f"{row.seconds:.1f} s  {whole(f'left {duration((epochs - row.epoch) * row.seconds)}')}"
    )
