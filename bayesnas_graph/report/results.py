"""Results of searches, training and compression runs, which notebooks show as cards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.report.notebook import Card, architecture_svg, network_svg
from bayesnas_graph.runs.objectives import OBJECTIVES, Metric
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.metrics import (
    EpochMetrics,
    FinalistMetrics,
    LoopMetrics,
    StepMetrics,
    SwitchMetrics,
    UpdateMetrics,
    read_metrics,
)
from bayesnas_graph.runs.reading.run import read_run_record

if TYPE_CHECKING:
    from bayesnas_graph.search.loop import SearchOutcome
    from bayesnas_graph.train.compress.run import CompressOutcome, NetworkSummary
    from bayesnas_graph.train.loop import TrainOutcome

__all__ = ["CompressResult", "SearchResult", "TrainResult"]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search."""

    path: Path  # the run folder
    outcome: SearchOutcome
    network: Network  # that was searched

    @cached_property
    def metrics(self) -> list[StepMetrics]:
        """The rows of `metrics.csv`: loss and accuracy every few steps."""
        return read_metrics(RunPaths(self.path).metrics, StepMetrics)

    @cached_property
    def updates(self) -> list[UpdateMetrics]:
        """The rows of `updates.csv`: held-out accuracy, sizes and lambda at every update."""
        return read_metrics(RunPaths(self.path).updates, UpdateMetrics)

    @cached_property
    def switches(self) -> list[SwitchMetrics]:
        """The rows of `switches.csv`: the state of every switch at every update."""
        return read_metrics(RunPaths(self.path).history, SwitchMetrics)

    @cached_property
    def finalists(self) -> list[FinalistMetrics]:
        """The rows of `finalists.csv`: the architectures that were compared at the end, if any."""
        return read_metrics(RunPaths(self.path).finalists, FinalistMetrics)

    def __repr__(self) -> str:
        outcome, name = self.outcome, _metric(self.network).name
        return f"<search in {self.path}: {name} {outcome.accuracy:.4f}, {outcome.cost.parameters:,} parameters>"

    def _repr_html_(self) -> str:
        outcome, whole = self.outcome, cost(self.network.graph())
        kept = sum(verdict.keep for verdict in outcome.decision.verdicts)
        return Card(
            title="Search",
            about=(_subject(self.path, self.network), f"The search ended: {outcome.why}."),
            columns=("derived", "all candidates"),
            rows=(
                (f"{_metric(self.network).name} on the test set", f"{outcome.accuracy:.4f}", ""),
                ("parameters", f"{outcome.cost.parameters:,}", f"{whole.parameters:,}"),
                ("multiply-adds", outcome.cost.flops_text, whole.flops_text),
                ("switches", f"{kept:,}", f"{len(outcome.decision.verdicts):,}"),
            ),
            picture=architecture_svg(self.network, outcome.graph),
            folder=self.path,
            verbs=("report RUN", "derive RUN", "export RUN -o model.py"),
        ).html()


@dataclass(frozen=True, eq=False)
class TrainResult:
    """The result of a training run."""

    path: Path  # the run folder
    outcome: TrainOutcome
    network: Network  # that was trained

    @cached_property
    def metrics(self) -> list[EpochMetrics]:
        """The rows of `metrics.csv`: loss and accuracy on training and test samples for every epoch."""
        return read_metrics(RunPaths(self.path).metrics, EpochMetrics)

    def __repr__(self) -> str:
        return f"<training in {self.path}: {_metric(self.network).name} {self.outcome.score.accuracy:.4f}>"

    def _repr_html_(self) -> str:
        score, size = self.outcome.score, cost(self.network.graph())
        return Card(
            title="Training run",
            about=(_subject(self.path, self.network),),
            rows=(
                (f"{_metric(self.network).name} on the test set", f"{score.accuracy:.4f}"),
                ("loss on the test set", f"{score.loss:.4g}"),
                ("parameters", f"{size.parameters:,}"),
                ("multiply-adds", size.flops_text),
            ),
            picture=network_svg(self.network),
            folder=self.path,
            verbs=("report RUN", "eval RUN", "export RUN -o model.py"),
        ).html()


@dataclass(frozen=True, eq=False)
class CompressResult:
    """The result of a compression run."""

    path: Path  # the run folder
    outcome: CompressOutcome

    @cached_property
    def metrics(self) -> list[EpochMetrics]:
        """The rows of `metrics.csv`: the epochs of all stages."""
        return read_metrics(RunPaths(self.path).metrics, EpochMetrics)

    @cached_property
    def loops(self) -> list[LoopMetrics]:
        """The rows of `loops.csv`: what is left after every loop."""
        return read_metrics(RunPaths(self.path).loops, LoopMetrics)

    @cached_property
    def baseline(self) -> list[EpochMetrics]:
        """The rows of `rival.csv`: the epochs of the network that is pruned by magnitude, if there is one."""
        return read_metrics(RunPaths(self.path).baseline, EpochMetrics)

    def __repr__(self) -> str:
        score, size = self.outcome.left.score, self.outcome.left.size
        name = _metric(self.outcome.network.text.network).name
        return f"<compression in {self.path}: {name} {score.accuracy:.4f}, {size.parameters:,} parameters>"

    def _repr_html_(self) -> str:
        outcome = self.outcome
        networks = {"whole": outcome.whole, "left": outcome.left}
        if outcome.baseline is not None:
            networks["by magnitude"] = outcome.baseline
        smaller = outcome.network.text.network
        return Card(
            title="Compression run",
            about=(_subject(self.path, smaller), "" if outcome.on_target else "The target size was not reached."),
            columns=tuple(networks),
            rows=tuple(zip(_LABELS, *map(_numbers, networks.values()), strict=True)),
            picture=network_svg(smaller),
            folder=self.path,
            verbs=("report RUN", "eval RUN", "export RUN -o model.py"),
        ).html()


_LABELS = ("widths", "error on the test set", "parameters", "multiply-adds", "operations")


def _numbers(network: NetworkSummary) -> tuple[str, ...]:
    """The values for the labels above."""
    size, error = network.size, f"{100 * (1 - network.score.accuracy):.2f} %"
    return (network.widths, error, f"{size.parameters:,}", size.flops_text, size.operations_text)


def _metric(network: Network) -> Metric:
    return OBJECTIVES[network.outputs[0].predicts].metric


def _subject(path: Path, network: Network) -> str:
    """The network, data and seed of a run, as far as its folder can be read."""
    try:
        record = read_run_record(RunPaths(path))
    except NasError:
        return f"Network {network.name}."
    config = record.config
    return f"Network {network.name} ({record.manifest['space']}) on {config.get('data')}, seed {config.get('seed')}."
