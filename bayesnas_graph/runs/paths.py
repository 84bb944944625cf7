"""The paths of a run's files. Loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import read_error
from bayesnas_graph.diagnostics.checksums import FIELD, digest
from bayesnas_graph.diagnostics.reading import read_file, real_path


class _File:
    """A file or folder of a run folder."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: RunPaths, _owner: type[RunPaths]) -> Path:
        return folder.path / self._name


@dataclass(frozen=True)
class RunPaths:
    """A run folder and the files in it. Not every kind of run writes all of them."""

    path: Path

    manifest_file = _File("run.json")  # what the run is
    lock = _File("lock")  # held by the process that writes to the folder
    space = _File("space")  # the copy of the space and its imports
    outline = _File("outline.json")  # facts known before the first step: sizes, steps, switches
    fusion = _File("fusion.json")  # the times that decided which siblings are computed together
    checkpoints = _File("checkpoints")  # states to resume from
    metrics = _File("metrics.csv")  # the log, as a table
    updates = _File("updates.csv")  # the results of every update of a search
    history = _File("switches.csv")  # the state of every switch at every update
    finalists = _File("finalists.csv")  # the architectures that were compared at the end of a search
    comparison = _File("comparison.json")  # random architectures, compared with the one that the search has found
    trials = _File("trials")  # checkpoints of the architecture that is being trained for the comparison
    tensorboard = _File("tensorboard")  # events for TensorBoard, if requested
    mlflow = _File("mlflow.db")  # a run of MLflow, if requested
    decision = _File("decision.json")  # the final decision about every switch
    architecture = _File("architecture.json")  # the graph found by a search
    result = _File("result.json")  # the outcome in a few numbers
    weights = _File("weights.safetensors")  # the final weights of a training or compression run
    source = _File("model.py")  # the final network as Python that needs only torch
    network = _File("network.nas")  # a compressed network in the language
    loops = _File("loops.csv")  # the results of every loop of a compression run
    baseline = _File("rival.csv")  # the epochs of the network pruned by magnitude, for comparison
    layers = _File("layers.json")  # the remains of every layer after compression
    checksums = _File("checksums.json")  # of the files below, once the run has finished

    @property
    def plain_files(self) -> tuple[Path, ...]:
        """The files without a checksum of their own: tables, texts, and JSON that is not an object of ours."""
        tables = self.metrics, self.updates, self.history, self.finalists, self.loops, self.baseline
        return *tables, self.architecture, self.source, self.network, self.layers

    def check_there(self) -> None:
        """Raise NasError if the folder was removed after it was opened."""
        if is_gone(self.path):
            raise folder_gone(self.path)

    def space_file(self, name: str) -> Path:
        """Return a file of the copy of the space. Raises NasError for a file outside of it: it might be a secret."""
        file = self.space / name
        if not real_path(file).is_relative_to(real_path(self.space)):
            message = f"cannot read `{self.manifest_file}`: `{name}` is not in its copy of the space"
            raise NasError([Diagnostic("NAS602", message)])
        return file

    def check_space(self, files: Mapping[str, str], named_in: Path) -> None:
        """Raise NasError if a file of the copy of the space is missing or has another checksum than it should."""
        for name, expected in files.items():
            path = self.space_file(name)
            try:
                changed = digest(read_file(path)) != expected
            except OSError as error:
                raise read_error(path, error) from None
            if changed:
                help = f"restore it; if you edited it, remove `files` and `{FIELD}` from `{named_in.name}`"
                message = f"cannot use `{path}`: it has changed since the run started"
                raise NasError([Diagnostic("NAS602", message, help=help)])

    def stage(self, name: str) -> Path:
        """Return the file of the weights at the end of a stage of a compression run."""
        return self.path / "stages" / f"{name}.safetensors"


def is_gone(path: Path) -> bool:
    """Return whether there is nothing at a path, rather than something that cannot be read."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def not_a_run(path: Path, help: str) -> NasError:
    """Return the error for a path that is not a run folder."""
    message = f"`{path}` does not exist" if is_gone(path) else f"`{path}` is not a run folder"
    return NasError([Diagnostic("NAS602", message, help=help)])


def folder_gone(path: Path) -> NasError:
    """Return the error for a run folder that was removed while it was in use."""
    help = "it was moved or removed in the meantime; a run that was moved can be resumed from where it is now"
    return NasError([Diagnostic("NAS602", f"the run folder `{path}` is gone", help=help)])
