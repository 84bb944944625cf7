"""Creating, resuming and finishing runs of any kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import torch

from bayesnas_graph.data import Data
from bayesnas_graph.data.workers import keep_workers
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.augmentation import changes
from bayesnas_graph.runs.device import Device, hold_lock, machine_limits, prepare_device
from bayesnas_graph.runs.folder import RunFolder, new_folder, now, versions
from bayesnas_graph.runs.given import GivenData, check_same_data
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.manifest import MANIFESTS, Kind
from bayesnas_graph.runs.memory import check_training_memory, divided
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.paths import folder_gone, is_gone
from bayesnas_graph.runs.processes import shared_folder
from bayesnas_graph.runs.reading.listed import changed_tables
from bayesnas_graph.runs.settings import from_values, merged
from bayesnas_graph.runs.signals import stopping
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.runs.watching import Watcher, fan_out


class Problem(Protocol):
    """What a run works on."""

    @property
    def config(self) -> Any:
        """The settings, with defaults that suit the data."""

    @property
    def data(self) -> Data:
        """The data."""


P = TypeVar("P", bound=Problem)
C = TypeVar("C")  # the settings
R = TypeVar("R")  # the result
W = TypeVar("W", bound=Watcher)


@dataclass(frozen=True, eq=False)
class Task(Generic[P, C]):
    """A run folder and its problem."""

    subject: Subject
    config: C
    problem: P
    data_dir: Path
    folder: RunFolder
    notes: tuple[str, ...] = ()  # on the memory of a step
    changes: tuple[str, ...] = ()  # defaults that do not suit the data


@dataclass(frozen=True)
class RunKind(ABC, Generic[P, C, W, R]):
    """The operations that each kind of run implements."""

    name: ClassVar[Kind]

    given: GivenData | None = field(default=None, kw_only=True)  # data from Python; if None, the settings name them

    @abstractmethod
    def build_problem(self, subject: Subject, config: C, data_dir: Path, device: Device) -> P:
        """Load the data and check everything that can be checked before the start. Raises NasError."""

    @abstractmethod
    def recorder(self, task: Task[P, C]) -> W:
        """Return the watcher that writes tables into the run folder."""

    @abstractmethod
    def run(self, task: Task[P, C], device: Device, watcher: W, stop: Callable[[], bool]) -> R:
        """Run from the start or the last checkpoint to the end. Raises Interrupted or NasError."""

    @abstractmethod
    def write_results(self, task: Task[P, C], outcome: R) -> None:
        """Write the results; last, the file that marks the run as finished."""

    def prepare_folder(self, task: Task[P, C]) -> None:
        """Write files that the run needs besides its manifest. Default: none."""


@contextmanager
def create_run(
    kind: RunKind[P, Any, Any, Any], subject: Subject, config: Any, data_dir: Path, output: Path | None, name: str
) -> Iterator[tuple[Task[P, Any], Device]]:
    """Create a run in a new folder: the given one, or the next of `runs/NAME-1`, ... Raises NasError."""
    with prepare_device(config) as device:
        check_training_memory(subject.network, config, device)
        config, notes = divided(subject.network, config, device)
        problem = kind.build_problem(subject, config, data_dir, device)
        created = new_folder(output, name) if device.processes.first else None
        notes = (*notes, *(kind.given.about.notes if kind.given else ()))
        folder, changed = shared_folder(device.processes, created), changes(config, problem.config, problem.data)
        task = Task(subject, problem.config, problem, data_dir, folder, notes, changed)
        if created is not None:
            _write_manifest(kind, task)
        with hold_lock(task.folder, device):
            yield task, device


def _write_manifest(kind: RunKind[P, Any, Any, Any], task: Task[P, Any]) -> None:
    subject, folder = task.subject, task.folder
    files = subject.copy_files(folder)
    manifest = MANIFESTS[kind.name](
        space=subject.name,
        called=subject.called,
        file=next(iter(files)),
        files=files,
        network=subject.network.name,
        fingerprint=subject.fingerprint,
        python_ops=subject.python_ops,
        data_dir=str(task.data_dir.absolute()),  # the run may be resumed from another folder
        begun=now(),
        versions=versions(),
        threads=torch.get_num_threads(),
        config=task.config,
        data=kind.given and kind.given.about,
    )
    kind.prepare_folder(task)
    folder.write_manifest(manifest)


@contextmanager
def resume_run(
    kind: RunKind[P, Any, Any, Any],
    path: Path,
    data_dir: Path | None,
    *,
    allow_python: bool,
    later: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[tuple[Task[P, Any], Device]]:
    """Open a run to resume it from its last checkpoint, with its own settings. Raises NasError.

    Settings that are made `later`, about what follows a finished run, become its own.
    """
    run = open_run(path, kind.name, allow_python=allow_python)
    manifest, subject, config = run.manifest, run.subject, run.config
    if kind.given is not None:
        check_same_data(path, kind.given.about, manifest.data)
    if later:
        config = merged([from_values(config.to_plain()), from_values(later)], type(config), allow_python=allow_python)
    with prepare_device(config, manifest.threads) as device, hold_lock(run.folder, device):
        where = data_dir or Path(manifest.data_dir)
        problem = kind.build_problem(subject, config, where, device)
        if later and device.processes.first:
            run.folder.write_manifest(manifest.model_copy(update={"config": config}))
        yield Task(subject, config, problem, where, run.folder), device


def run_to_end(kind: RunKind[P, Any, W, R], task: Task[P, Any], device: Device, watchers: Sequence[W]) -> R:
    """Run from the start or the last checkpoint, and write the results. Raises Interrupted or NasError."""
    with _noticing_removal(task.folder):
        return _run_to_end(kind, task, device, watchers)


@contextmanager
def _noticing_removal(folder: RunFolder) -> Iterator[None]:
    """Report files that cannot be read or written as what they are if the whole run folder is gone."""
    try:
        yield
    except (NasError, OSError):
        if is_gone(folder.manifest_file):
            raise folder_gone(folder.path) from None
        raise


def _run_to_end(kind: RunKind[P, Any, W, R], task: Task[P, Any], device: Device, watchers: Sequence[W]) -> R:
    first = device.processes.first
    watcher = fan_out([kind.recorder(task), *watchers] if first else [])
    watcher.opened(task, device)
    if first:
        watcher.warned(changed_tables(task.folder))
        task.folder.checksums.unlink(missing_ok=True)  # the files are written again
    try:
        with stopping(say=first) as stop, machine_limits(task.config, device), keep_workers():
            outcome = kind.run(task, device, watcher, stop)
    except Interrupted as interrupted:
        watcher.closed()
        watcher.interrupted(task, interrupted.step)
        raise
    except BaseException:
        watcher.closed()
        raise
    watcher.closed()
    if first:
        kind.write_results(task, outcome)
        task.folder.write_checksums()
    watcher.finished(task, outcome)
    return outcome
