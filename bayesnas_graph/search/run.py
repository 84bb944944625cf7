"""A run from its beginning to its results, or on from where it stopped."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import prod
from os.path import commonpath
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from bayesnas_graph.data import Data, load, padded
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.elaborate import Loaded, Network, load_network
from bayesnas_graph.elaborate.load import number
from bayesnas_graph.exchange import fingerprint, to_json
from bayesnas_graph.ir import Graph
from bayesnas_graph.ops import BatchNorm
from bayesnas_graph.search.checkpoint import Checkpoints
from bayesnas_graph.search.config import Config, Machine, Samples
from bayesnas_graph.search.events import Watcher, Watchers
from bayesnas_graph.search.folder import Manifest, Origin, RunFolder, new_folder, now, versions
from bayesnas_graph.search.loop import Outcome, Search
from bayesnas_graph.search.place import Place, find_device, machine_limits
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.processes import Processes, joined
from bayesnas_graph.search.record import Recorder

AGAIN = 1.0  # seconds: `torchrun` hands on a Ctrl-C that its processes have had from the terminal, and means the same


@dataclass(frozen=True, eq=False)
class Subject:
    """A network, and the files of the user's that it was read from, the one that defines it first."""

    name: str  # of the space, as it was given
    called: str  # what its file is called in messages
    network: Network
    files: tuple[tuple[Path, str], ...]  # with their texts
    python_ops: bool = False

    @staticmethod
    def of(loaded: Loaded, name: str, *, allow_python: bool = False) -> Subject:
        """What was loaded, under the name that it was asked for by."""
        called = loaded.modules[0].file.source.name
        return Subject(name, called, loaded.network, loaded.own_files, allow_python)

    @property
    def fingerprint(self) -> str:
        """The same for all texts of the same network."""
        return fingerprint(self.network.graph())


@dataclass(frozen=True, eq=False)
class Task:
    """What is needed for a run, begun or not."""

    subject: Subject
    problem: Problem
    data_dir: Path
    folder: RunFolder

    @property
    def config(self) -> Config:
        """The settings."""
        return self.problem.config


@contextmanager
def prepared(config: Machine, threads: int = 0) -> Iterator[Place]:
    """Torch set up as the settings say, and joined with the processes that `torchrun` has started.

    A run that goes on does so with as many threads as it began with: sums depend on how they are shared out.
    """
    device = find_device(config.device)
    if threads or config.threads:
        torch.set_num_threads(threads or config.threads)
    if config.deterministic != torch.are_deterministic_algorithms_enabled():  # the call itself takes seconds
        torch.use_deterministic_algorithms(config.deterministic)
    torch.backends.cudnn.benchmark = not config.deterministic
    with joined(device) as processes:
        yield Place.of(config, device, processes)


def posed(subject: Subject, config: Config, data_dir: Path, processes: Processes) -> Problem:
    """What is to be searched, on data that are loaded. Raises NasError for all that can be known to be wrong."""
    data = loaded(subject, config, config.seed, data_dir, processes)
    problem = Problem.of(subject.network, data, config)
    check_company(problem.graph, config)
    if len(problem.indices[1]) < processes.world:
        message = f"of {len(problem.data.train)} samples {len(problem.indices[1])} are held out to measure on"
        raise NasError([Diagnostic("NAS601", message, help="set `held_out` to more")])
    return problem


def loaded(subject: Subject, config: Samples, seed: int, data_dir: Path, processes: Processes) -> Data:
    """The data to train on. Raises NasError if there are none, or if their batches cannot be shared out."""
    if config.data is None:
        help = "`--data digits`, for instance; `bayesnas-graph data list` shows what there is"
        raise NasError([Diagnostic("NAS601", f"there are no data to {config.verb} on", help=help)])
    if config.batch % (config.accumulate * processes.world):
        message = f"a batch of {config.batch} is not shared out evenly among {processes.world} processes"
        parts = f" in {config.accumulate} parts each" if config.accumulate > 1 else ""
        help = f"set `batch` to a multiple of {config.accumulate * processes.world}"
        raise NasError([Diagnostic("NAS601", message + parts, help=help)])
    shape = subject.network.inputs[0].shape if subject.network.inputs else None
    if shape is not None and len(shape) == 3:
        shape = (shape[0], *(max(1, side - 2 * config.pad) for side in shape[1:]))
    return padded(load(config.data, data_dir, image_shape=shape, seed=seed), config.pad)


def check_company(graph: Graph, config: Samples) -> None:
    """Raise NasError if a norm would see one value at a time."""
    alone = [node.name for node in graph if isinstance(node.op, BatchNorm) and prod(node.shape[1:]) == 1]
    if alone and config.batch == config.accumulate:
        message = f"`{alone[0]}` normalises over samples, and they come one at a time"
        raise NasError([Diagnostic("NAS601", message, help="set `batch` to more, or `accumulate` to less")])


def begun(subject: Subject, config: Config, data_dir: Path, output: Path | None, name: str, place: Place) -> Task:
    """A run in a new folder, which is named or called after the space; what it is has been written down."""
    problem = posed(subject, config, data_dir, place.processes)
    made = new_folder(output, name) if place.processes.first else None
    task = Task(subject, problem, data_dir, told_to_all(place.processes, made))
    if made is not None:
        write_down(task)
    return task


def copy_of(folder: RunFolder, manifest: Origin, config: Samples, *, allow_python: bool) -> Subject:
    """The network of a run, from its own copy of the space. Raises NasError if that is no longer what it was."""
    if manifest.python_ops and not allow_python:
        help = "say `--allow-python-ops` again"
        raise NasError([Diagnostic("NAS105", "the run uses operations written in Python", help=help)])
    given = {key: number(str(value).lower()) for key, value in config.parameters.items()}
    copy = folder.space / manifest.file
    loaded = load_network(copy, config.network, given, called=manifest.called, allow_python=allow_python)
    subject = Subject.of(loaded, manifest.space, allow_python=allow_python)
    check_same_space(subject, manifest, folder)
    return subject


@contextmanager
def only_here(folder: RunFolder, place: Place) -> Iterator[None]:
    """The first process holds the folder for all."""
    if not place.processes.first:
        yield
        return
    with folder.locked():
        yield


def write_down(task: Task) -> None:
    """Write what the run is into its new folder, before anything else is done."""
    origin = origin_of(task.subject, task.folder, task.data_dir)
    task.folder.write_manifest(Manifest(**origin, config=task.config))


def origin_of(subject: Subject, folder: RunFolder, data_dir: Path) -> dict[str, Any]:
    """What is known about a run of any kind before it begins. Its space is copied into its folder."""
    return {
        "space": subject.name,
        "called": subject.called,
        "file": copied(subject, folder),
        "network": subject.network.name,
        "fingerprint": subject.fingerprint,
        "python_ops": subject.python_ops,
        "data_dir": str(data_dir.absolute()),  # for a run may be gone on with from elsewhere
        "begun": now(),
        "versions": versions(),
        "threads": torch.get_num_threads(),
    }


def copied(subject: Subject, folder: RunFolder) -> str:
    """Copy the files of a space into the folder of a run; where there the one is that defines the network."""
    paths = [path for path, _ in subject.files]
    root = Path(commonpath([path.parent for path in paths]))
    for path, text in subject.files:
        folder.write(folder.space / path.relative_to(root), text)
    return str(paths[0].relative_to(root))


def go(task: Task, place: Place, watchers: tuple[Watcher, ...]) -> Outcome:
    """Search, from the beginning or from the last checkpoint, and write the results. Raises Interrupted or NasError."""
    problem, folder = task.problem, task.folder
    checkpoints = Checkpoints(folder.checkpoints, task.config.keep, task.subject.fingerprint)
    watcher = Watchers((Recorder(folder), *watchers) if place.processes.first else ())
    with stopping(say=place.processes.first) as stop, machine_limits(task.config, place):
        outcome = Search(problem, place, checkpoints, watcher, stop).run()
    if place.processes.first:
        write_results(folder, problem, outcome)
    return outcome


def write_results(folder: RunFolder, problem: Problem, outcome: Outcome) -> None:
    """The decision, the architecture, and the outcome in numbers."""
    folder.write_json(folder.decision, outcome.decision.to_plain())
    folder.write(folder.architecture, to_json(outcome.graph))
    result = {
        "why": outcome.why,
        "parameters": outcome.cost.parameters,
        "flops": outcome.cost.flops,
        "accuracy": outcome.accuracy,
        "kept": sum(verdict.keep for verdict in outcome.decision.verdicts),
        "switches": len(outcome.decision.verdicts),
        "unmet": [str(budget) for budget in problem.unmet(outcome.cost)],
        "on_target": problem.on_target(outcome.graph),
    }
    folder.write_json(folder.result, result)


def check_same_space(subject: Subject, manifest: Origin, folder: RunFolder) -> None:
    """Raises NasError if a run was begun with another space than this one."""
    if subject.fingerprint != manifest.fingerprint:
        message = f"`{folder.path}` was begun with another space than `{subject.name}`"
        help = "leave the space away to go on with the run's own copy, or begin another run"
        raise NasError([Diagnostic("NAS604", message, help=help)])


@contextmanager
def stopping(*, say: bool = True) -> Iterator[Callable[[], bool]]:
    """Ctrl-C, a polite kill and a terminal that is gone are heeded after the step that is being taken.

    A step may be long, so it is said; the second time is heeded at once.
    """
    asked: list[float] = []

    def ask(_number: int, _frame: FrameType | None) -> None:
        if asked and time.monotonic() - asked[0] > AGAIN:
            raise KeyboardInterrupt
        if say and not asked:
            with suppress(OSError):  # nobody can hear
                os.write(2, b"stopping after this step\n")  # printing is not safe here: it may be going on
        asked.append(time.monotonic())

    if threading.current_thread() is not threading.main_thread():  # signals belong to the main thread
        yield lambda: False
        return
    before = {number: signal.signal(number, ask) for number in _heeded()}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heeded() -> list[signal.Signals]:
    """The signals to stop at. Under `nohup` a terminal may go away without harm."""
    found = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found


def told_to_all(processes: Processes, folder: RunFolder | None) -> RunFolder:
    """The folder that the first process has made."""
    path = processes.tell(None if folder is None else str(folder.path))
    assert path is not None, "the first process has one"
    return RunFolder(Path(path))
