"""A compression run as a kind of run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, as_state, build, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.export.describe import docs_of
from bayesnas_graph.codegen.export.weights import write_weights
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.device import Device, check_deterministic
from bayesnas_graph.runs.layers import PrunedLayer
from bayesnas_graph.runs.loading import check_batch_norms, load_data
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.memory import check_step, check_training_memory
from bayesnas_graph.runs.objectives import Metric
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.runs.task import RunKind, Task
from bayesnas_graph.train.compress.events import CompressRecorder, CompressWatcher
from bayesnas_graph.train.compress.report import layer_reports, widths
from bayesnas_graph.train.compress.selection import Size
from bayesnas_graph.train.compress.work import CompressionProblem, CompressWork, Smaller
from bayesnas_graph.train.measure import Latency, Score, latencies

BATCHES = (1, 64)  # batch sizes of measured latencies
RUNS = 50


CompressTask = Task[CompressionProblem, CompressConfig]


@dataclass(frozen=True, eq=False)
class NetworkSummary:
    """A network in numbers."""

    widths: str
    size: Size
    score: Score
    latencies: tuple[Latency, ...] = ()

    def to_plain(self, metric: Metric) -> dict[str, Any]:
        """Return dictionaries, lists, strings and numbers."""
        return {
            "widths": self.widths,
            **self.size.to_plain(),
            metric.column: self.score.accuracy,
            "loss": self.score.loss,
            "latency": [asdict(latency) for latency in self.latencies],
        }


@dataclass(frozen=True, eq=False)
class CompressOutcome:
    """The result of a compression run."""

    whole: NetworkSummary
    left: NetworkSummary
    cut: Score  # of the pruned network, before fine-tuning
    layers: list[PrunedLayer]
    loops: int
    on_target: bool  # whether the target is met, if there is one
    network: Smaller
    program: Emitted
    baseline: NetworkSummary | None = None


@dataclass(frozen=True)
class CompressRun(RunKind[CompressionProblem, CompressConfig, CompressWatcher, CompressOutcome]):
    """Makes a network smaller."""

    name: ClassVar[Kind] = "compress"

    weights: ByNode | None = None  # to start with; random if None

    def build_problem(
        self, subject: Subject, config: CompressConfig, data_dir: Path, device: Device
    ) -> CompressionProblem:
        check_training_memory(subject.network, config, device)
        data = load_data(subject, config, config.seed, data_dir, device.processes, self.given)
        check_batch_norms(subject.network.graph(), config)
        check_deterministic(subject.network.graph(), config, device)
        compression = CompressionProblem(subject, config, data, device)
        compression.check()
        check_step(subject.network, config, device)
        return compression

    def prepare_folder(self, task: CompressTask) -> None:
        if self.weights is not None:
            program = emit(task.subject.network.graph(), standalone=True)
            state = as_state(self.weights, {}, program)
            task.folder.make(task.folder.stage("given").parent)
            write_weights(task.folder.stage("given"), state, task.subject.fingerprint)

    def recorder(self, task: CompressTask) -> CompressWatcher:
        return CompressRecorder(task.folder)

    def run(
        self, task: CompressTask, device: Device, watcher: CompressWatcher, stop: Callable[[], bool]
    ) -> CompressOutcome:
        work = CompressWork(task.problem, task.folder, device, watcher, stop)
        weights, score = work.dense()
        shrunk = work.loops(weights)
        smaller = work.fine(shrunk)
        baseline = work.baseline(weights, shrunk) if task.config.rival else None
        return _measured(work, weights, score, smaller, baseline)

    def write_results(self, task: CompressTask, outcome: CompressOutcome) -> None:
        folder, text, metric = task.folder, outcome.network.text, task.problem.objective.metric
        folder.write(folder.network, text.text)
        folder.write(folder.source, outcome.program.text)
        write_weights(folder.weights, state_of(outcome), fingerprint(text.graph))
        folder.write(folder.layers, json_text([layer.to_plain() for layer in outcome.layers], ascii=False) + "\n")
        result = {
            "loops": outcome.loops,
            "on_target": outcome.on_target,
            metric.column: outcome.left.score.accuracy,
            "parameters": outcome.left.size.parameters,
            "flops": outcome.left.size.flops,
            **({"flops_at_least": True} if outcome.left.size.flops_at_least else {}),
            "whole": outcome.whole.to_plain(metric),
            "left": outcome.left.to_plain(metric),
            "cut": {"loss": outcome.cut.loss, metric.column: outcome.cut.accuracy},
            "rival": outcome.baseline and outcome.baseline.to_plain(metric),
        }
        folder.write_json(folder.result, result)


def _measured(
    work: CompressWork, weights: ByNode, score: Score, smaller: Smaller, baseline: Smaller | None
) -> CompressOutcome:
    """Measure everything. Latency measurements alternate between the whole network and the smaller one."""
    problem = work.problem
    doc, docs = f"{problem.doc(smaller.text.graph)}\n", docs_of(smaller.text.network)
    program = emit(smaller.text.graph, doc, docs=docs, standalone=True)
    whole_program = emit(problem.graph, standalone=True)
    networks = [_built(whole_program, weights, work.device), _built(program, smaller.weights, work.device)]
    shapes = [kind.shape for kind in problem.subject.network.inputs]
    times = [latencies(networks, shapes, batch, work.device, RUNS) for batch in BATCHES]
    whole_times, smaller_times = zip(*times, strict=True)
    return CompressOutcome(
        whole=NetworkSummary(widths(problem.graph), Size.of(problem.graph), score, whole_times),
        left=_in_numbers(smaller, smaller_times),
        cut=smaller.before,
        layers=layer_reports(problem.graph, problem.groups, smaller.shrunk),
        loops=work.loops_done,
        on_target=not problem.target.is_given or problem.target.is_met(Size.of(smaller.text.graph)),
        network=smaller,
        program=program,
        baseline=None if baseline is None else _in_numbers(baseline),
    )


def _in_numbers(smaller: Smaller, times: tuple[Latency, ...] = ()) -> NetworkSummary:
    graph = smaller.text.graph
    return NetworkSummary(widths(graph), Size.of(graph), smaller.score, times)


def _built(program: Emitted, weights: ByNode, device: Device) -> nn.Module:
    module = build(program)
    module.load_state_dict(as_state(weights, {}, program))
    return module.to(device.torch_device)


def state_of(outcome: CompressOutcome) -> Mapping[str, Tensor]:
    """Return the weights of the smaller network, under the names of its source."""
    return as_state(outcome.network.weights, {}, outcome.program)
