"""A training from its beginning to its results, or on from where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Place, machine_limits
from bayesnas_graph.runs.folder import new_folder
from bayesnas_graph.runs.loading import check_company, loaded
from bayesnas_graph.runs.processes import Processes, told_to_all
from bayesnas_graph.runs.signals import stopping
from bayesnas_graph.runs.subject import Subject, origin_of
from bayesnas_graph.train.checkpoint import Checkpoints
from bayesnas_graph.train.config import TrainConfig
from bayesnas_graph.train.course import Course
from bayesnas_graph.train.events import Recorder, Watcher, Watchers
from bayesnas_graph.train.folder import TrainFolder, TrainManifest
from bayesnas_graph.train.loop import Outcome, Training
from bayesnas_graph.train.weights import bytes_of, write_weights


@dataclass(frozen=True, eq=False)
class Task:
    """What is needed for a training, begun or not."""

    subject: Subject
    course: Course
    data_dir: Path
    folder: TrainFolder

    @property
    def config(self) -> TrainConfig:
        """The settings."""
        return self.course.config


def posed(subject: Subject, config: TrainConfig, data_dir: Path, processes: Processes) -> Course:
    """What is to be trained, on data that are loaded. Raises NasError for all that can be known to be wrong."""
    data = loaded(subject, config, config.seed, data_dir, processes)
    course = Course.of(subject.network, data, config)
    check_company(course.graph, config)
    return course


def begun(subject: Subject, config: TrainConfig, data_dir: Path, output: Path | None, name: str, place: Place) -> Task:
    """A training in a new folder, which is named or called after the network; what it is has been written down."""
    course = posed(subject, config, data_dir, place.processes)
    made = new_folder(output, name) if place.processes.first else None
    task = Task(subject, course, data_dir, TrainFolder(told_to_all(place.processes, made).path))
    if made is not None:
        write_down(task)
    return task


def write_down(task: Task) -> None:
    """Write what the training is into its new folder, before anything else is done."""
    origin = origin_of(task.subject, task.folder, task.data_dir)
    task.folder.write_manifest(TrainManifest(**origin, config=task.config))


def go(task: Task, place: Place, watchers: tuple[Watcher, ...]) -> Outcome:
    """Train, from the beginning or from the last checkpoint, and write the results. Raises Interrupted or NasError."""
    subject, folder = task.subject, task.folder
    checkpoints = Checkpoints(folder.checkpoints, task.config.keep, subject.fingerprint)
    watcher = Watchers((Recorder(folder), *watchers) if place.processes.first else ())
    doc = described(subject.network, subject.fingerprint)
    with stopping(say=place.processes.first) as stop, machine_limits(task.config, place):
        outcome = Training(task.course, place, checkpoints, watcher, stop, doc).run()
    if place.processes.first:
        write_results(task, outcome)
    return outcome


def described(network: Network, fingerprint: str) -> str:
    """What the source of a network says about it."""
    given = ", ".join(f"{name} = {show(value)}" for name, value in network.arguments)
    name = f"{network.name}({given})" if given else network.name
    return f"Network `{name}`, without choices.\n\nFingerprint of the space: {fingerprint[:16]}.\n"


def write_results(task: Task, outcome: Outcome) -> None:
    """The source, the weights, and the outcome in numbers. The numbers come last: with them a training has ended."""
    folder, found = task.folder, cost(task.course.graph)
    folder.write(folder.source, outcome.program.text)
    write_weights(folder.weights, outcome.weights, task.subject.fingerprint)
    result = {
        "epochs": task.config.epochs,
        "accuracy": outcome.score.accuracy,
        "loss": outcome.score.loss,
        "parameters": found.parameters,
        "flops": found.flops,
        "bytes": bytes_of(outcome.weights),
    }
    folder.write_json(folder.result, result)
