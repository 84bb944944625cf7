"""A compression from its beginning to its results, or on from where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, as_state, build, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.data import Data
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.runs.device import Place, machine_limits, only_here, prepared
from bayesnas_graph.runs.folder import new_folder
from bayesnas_graph.runs.layers import LayerReport
from bayesnas_graph.runs.loading import check_company, loaded
from bayesnas_graph.runs.processes import Processes, told_to_all
from bayesnas_graph.runs.signals import stopping
from bayesnas_graph.runs.subject import Subject, copy_of, origin_of
from bayesnas_graph.train.compress.config import CompressConfig
from bayesnas_graph.train.compress.events import Recorder, Watcher, Watchers
from bayesnas_graph.train.compress.folder import CompressFolder, CompressManifest
from bayesnas_graph.train.compress.report import layer_reports, widths
from bayesnas_graph.train.compress.selection import Size
from bayesnas_graph.train.compress.work import Compression, Smaller
from bayesnas_graph.train.measure import Latency, Score, latencies
from bayesnas_graph.train.weights import write_weights

BATCHES = (1, 64)  # for which latencies are measured
RUNS = 50


@dataclass(frozen=True, eq=False)
class Task:
    """What is needed for a compression, begun or not."""

    subject: Subject
    config: CompressConfig
    data: Data
    data_dir: Path
    folder: CompressFolder

    def compression(self, place: Place, watcher: Watcher) -> Compression:
        """The work that it is."""
        return Compression(self.subject, self.config, self.data, self.folder, place, watcher)


@dataclass(frozen=True, eq=False)
class Measured:
    """A network in numbers."""

    widths: str
    size: Size
    score: Score
    latencies: tuple[Latency, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Dictionaries, lists, strings and numbers."""
        return {
            "widths": self.widths,
            **asdict(self.size),
            "accuracy": self.score.accuracy,
            "loss": self.score.loss,
            "latency": [asdict(one) for one in self.latencies],
        }


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a compression has come to."""

    whole: Measured
    left: Measured
    cut: Score  # of what is left, before it was trained
    layers: list[LayerReport]
    loops: int
    on_target: bool  # whether it is as small as asked for, if anything was
    network: Smaller
    program: Emitted
    rival: Measured | None = None


def posed(subject: Subject, config: CompressConfig, data_dir: Path, processes: Processes) -> Data:
    """The data. Raises NasError for all that can be known to be wrong."""
    data = loaded(subject, config, config.seed, data_dir, processes)
    check_company(subject.network.graph(), config)
    return data


def begun(
    subject: Subject,
    config: CompressConfig,
    data_dir: Path,
    output: Path | None,
    name: str,
    place: Place,
    weights: ByNode | None = None,
) -> Task:
    """A compression in a new folder, perhaps of weights that there are; what it is has been written down."""
    data = posed(subject, config, data_dir, place.processes)
    Task(subject, config, data, data_dir, CompressFolder(Path())).compression(place, Watchers()).check()
    made = new_folder(output, name) if place.processes.first else None
    folder = CompressFolder(told_to_all(place.processes, made).path)
    task = Task(subject, config, data, data_dir, folder)
    if made is not None:
        origin = origin_of(subject, folder, data_dir)
        if weights is not None:
            program = emit(subject.network.graph(), standalone=True)
            write_weights(folder.stage("given"), as_state(weights, {}, program), subject.fingerprint)
        folder.write_manifest(CompressManifest(**origin, config=config))
    return task


@contextmanager
def task_of(run: Path, data_dir: Path | None, *, allow_python: bool) -> Iterator[tuple[Task, Place]]:
    """A compression that was begun, under the settings that it began with, and where it goes on. Raises NasError."""
    folder = CompressFolder(run)
    manifest = folder.compression()
    config = manifest.config
    subject = copy_of(folder, manifest, config, allow_python=allow_python)
    with prepared(config, manifest.threads) as place, only_here(folder, place):
        where = data_dir or Path(manifest.data_dir)
        yield Task(subject, config, posed(subject, config, where, place.processes), where, folder), place


def go(task: Task, place: Place, watchers: tuple[Watcher, ...]) -> Outcome:
    """Compress, from the beginning or from where it stopped, and write the results. Raises Interrupted or NasError."""
    folder, config = task.folder, task.config
    recorder = Recorder(folder.metrics, folder.loops, folder.path / "rival.csv")
    work = task.compression(place, Watchers((recorder, *watchers) if place.processes.first else ()))
    with stopping(say=place.processes.first) as work.stop, machine_limits(config, place):
        weights, score = work.dense()
        left = work.loops(weights)
        found = work.fine(left)
        rival = work.rival(weights, left) if config.rival else None
        outcome = _measured(work, weights, score, found, rival)
    if place.processes.first:
        write_results(task, outcome)
    return outcome


def _measured(work: Compression, weights: ByNode, score: Score, found: Smaller, rival: Smaller | None) -> Outcome:
    """Everything in numbers. The whole network and what is left of it take turns when their time is taken."""
    program = emit(found.text.graph, f"{work.doc(found.text.graph)}\n", standalone=True)
    whole_program = emit(work.graph, standalone=True)
    networks = [_built(whole_program, weights, work.place), _built(program, found.weights, work.place)]
    shapes = [kind.shape for kind in work.subject.network.inputs]
    times = [latencies(networks, shapes, batch, work.place, RUNS) for batch in BATCHES]
    whole, left = zip(*times, strict=True)
    return Outcome(
        whole=Measured(widths(work.graph), Size.of(work.graph), score, whole),
        left=_in_numbers(found, left),
        cut=found.before,
        layers=layer_reports(work.graph, work.groups, found.shrunk),
        loops=work.loops_done,
        on_target=not work.target.is_given or work.target.is_met(Size.of(found.text.graph)),
        network=found,
        program=program,
        rival=None if rival is None else _in_numbers(rival),
    )


def _in_numbers(found: Smaller, times: tuple[Latency, ...] = ()) -> Measured:
    graph = found.text.graph
    return Measured(widths(graph), Size.of(graph), found.score, times)


def _built(program: Emitted, weights: ByNode, place: Place) -> nn.Module:
    module = build(program)
    module.load_state_dict(as_state(weights, {}, program))
    return module.to(place.device)


def state_of(outcome: Outcome) -> Mapping[str, Tensor]:
    """The weights of what is left, under the names of its source."""
    return as_state(outcome.network.weights, {}, outcome.program)


def write_results(task: Task, outcome: Outcome) -> None:
    """The network as text, source and weights, and the outcome in numbers, which come last."""
    folder, text = task.folder, outcome.network.text
    folder.write(folder.network, text.text)
    folder.write(folder.source, outcome.program.text)
    write_weights(folder.weights, state_of(outcome), fingerprint(text.graph))
    folder.write_json(folder.layers, [layer.to_plain() for layer in outcome.layers])
    result = {
        "loops": outcome.loops,
        "on_target": outcome.on_target,
        "accuracy": outcome.left.score.accuracy,
        "parameters": outcome.left.size.parameters,
        "flops": outcome.left.size.flops,
        "whole": outcome.whole.to_plain(),
        "left": outcome.left.to_plain(),
        "cut": asdict(outcome.cut),
        "rival": outcome.rival and outcome.rival.to_plain(),
    }
    folder.write_json(folder.result, result)
