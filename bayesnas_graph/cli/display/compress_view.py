"""The display of a compression run: its training stages, and lines on the pruning between them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bayesnas_graph.cli.console import labelled, note, say
from bayesnas_graph.cli.display.run_view import show_written
from bayesnas_graph.cli.display.train_view import TrainView
from bayesnas_graph.cli.terminal import bold, dim, text_width
from bayesnas_graph.diagnostics.wrapping import columns
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.reading.compression import LAYER_HEAD, latency_cells, layer_cells
from bayesnas_graph.train.compress.events import CompressWatcher, LoopRow, Stage
from bayesnas_graph.train.compress.run import CompressOutcome, CompressTask, NetworkSummary
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.progress import TrainProgress

LESS_NEEDED = ("kind", "operations", "groups left", "inputs", "outputs")  # columns of layers, the first to go first

_TITLES = {
    "dense": "train: the whole network",
    "loops": "prune: under the penalty",
    "fine": "train: the smaller network",
    "rival": "train: a network of the same size, pruned by magnitude",
}


@dataclass
class CompressView(TrainView, CompressWatcher):
    """A title for every stage, and a line for every loop."""

    verb: ClassVar[Kind] = "compress"

    stage: str = ""  # whose title was shown last

    def stage_started(self, stage: Stage) -> None:
        self.closed()
        self.shown = stage.name == self.stage  # loops follow one another
        self.stage = stage.name
        if not self.shown:
            self.say("")
            self.say(bold(_TITLES[stage.name]))

    def header(self, problem: TrainingProblem, progress: TrainProgress) -> list[str]:
        rows = [("epochs", f"{problem.config.epochs:,} of {problem.steps_per_epoch:,} steps")]
        if progress.step:
            rows.append(("resumes", f"after step {progress.step:,}"))
        return [labelled(label, text) for label, text in rows]

    def loop_ended(self, loop: LoopRow) -> None:
        size = f"{loop.size.parameters:,} parameters, {loop.size.operations:,} operations"
        self.say(f"loop {loop.number}  held-out loss {loop.loss:<7.4g}  remaining: {loop.groups:,} groups, {size}")

    def finished(self, task: CompressTask, outcome: CompressOutcome) -> None:  # type: ignore[override]
        folder = task.folder
        say("")
        for line in summary(outcome, task.problem.objective.metric):
            say(line)
        if not outcome.on_target:
            say("")
            say(note("the network is larger than the target: increase `lambda`, `tolerance` or `loops`"))
        say("")
        written = folder.network, folder.source, folder.weights, folder.layers, folder.result
        show_written(task, *written, next_steps={"measure it": "eval"})


def summary(outcome: CompressOutcome, metric: Metric = ACCURACY) -> Iterator[str]:
    """Yield a table of the network before and after, and a table of its layers."""
    networks = {"before": outcome.whole, "after": outcome.left}
    if outcome.baseline is not None:
        networks["by magnitude"] = outcome.baseline
    columns = [_column(network, metric) for network in networks.values()]
    yield from _aligned(
        [["", *networks], *([label, *(column.get(label, "") for column in columns)] for label in columns[0])]
    )
    yield ""
    yield from _fitted([LAYER_HEAD, *map(layer_cells, outcome.layers)], text_width(sys.stdout))


def _column(network: NetworkSummary, metric: Metric) -> dict[str, str]:
    accuracy = network.score.accuracy
    return {
        "widths": network.widths,
        **({"error": f"{100 * (1 - accuracy):.2f} %"} if metric.is_share else {metric.name: f"{accuracy:.4f}"}),
        "parameters": f"{network.size.parameters:,}",
        "multiply-adds": network.size.flops_text,
        "operations": network.size.operations_text,
        **dict(latency_cells(one.batch, one.median) for one in network.latencies),
    }


def _fitted(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """Yield rows in columns, without some of them where the terminal is too narrow for all."""
    left_out: list[str] = []
    lines = list(_aligned(rows))
    for column in LESS_NEEDED:
        if width is not None and max(map(columns, lines)) > width:
            left_out.append(column)
            lines = list(_aligned([_without(row, rows[0], left_out) for row in rows]))
    yield from lines
    if left_out:
        yield dim(f"not shown: {', '.join(left_out)}; `layers.json` has them")


def _without(row: Sequence[str], head: Sequence[str], left_out: Sequence[str]) -> list[str]:
    return [cell for cell, name in zip(row, head, strict=True) if name not in left_out]


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows in columns, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield line if number else bold(line)
