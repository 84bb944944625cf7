"""What is compressed: a network without choices, and the weights that it has, if any."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.codegen.emit import build, by_node, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.derive import of_run
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Network, load_network
from bayesnas_graph.language.elaborate.load import number
from bayesnas_graph.runs.config import Samples
from bayesnas_graph.runs.settings import Settings, merged, recipe_of
from bayesnas_graph.runs.subject import Subject, copy_of
from bayesnas_graph.train.compress.config import CompressConfig
from bayesnas_graph.train.compress.folder import CompressFolder
from bayesnas_graph.train.course import check_fixed
from bayesnas_graph.train.folder import TrainFolder
from bayesnas_graph.train.weights import read_weights, take_weights

OF_DATA = {"data", "pad", "crop", "flip", "cutout"}  # settings that a compression has from the run that it begins with


@dataclass(frozen=True, eq=False)
class Start:
    """A network, its weights by node, and the settings of the run that it comes from."""

    subject: Subject
    weights: ByNode | None = None
    settings: Samples | None = None
    data_dir: Path | None = None


def start_of(path: Path, config: CompressConfig, weights: Path | None = None, *, allow_python: bool) -> Start:
    """What a path leads to: a file, a shipped space, or the folder of a search, a training or a compression.

    Raises NasError if there are choices left, or if the weights of a file do not fit.
    """
    kind = kind_of(path)
    if kind is None:
        given = {key: number(str(value).lower()) for key, value in config.parameters.items()}
        loaded = load_network(path, config.network, given, allow_python=allow_python)
        subject = Subject.of(loaded, str(path), allow_python=allow_python)
        check_fixed(subject.network)
        return Start(subject, None if weights is None else weights_of(subject.network, weights))
    if weights is not None or config.network is not None or config.parameters:
        message = f"`{path}` is a run, which has its own network and weights"
        raise NasError([Diagnostic("NAS601", message, help="leave `--weights`, `--network` and `-p` away")])
    read = {"search": _of_search, "train": _of_training, "compress": of_compression}
    return read[kind](path, allow_python=allow_python)


def configured(
    path: Path, told: Sequence[Settings], weights: Path | None = None, *, allow_python: bool
) -> tuple[Start, CompressConfig]:
    """What is compressed and under which settings: those that are told, and for a run those of its data."""
    config = merged(told, CompressConfig)
    start = start_of(path, config, weights, allow_python=allow_python)
    if start.settings is not None:
        own = start.settings.model_dump(include=OF_DATA, exclude_none=True)
        config = merged([Settings(Source(str(path), ""), own), *told], CompressConfig)
    return start, config


def recipe_for(path: Path) -> Path | None:
    """The settings that come with a network; a run has its own, whatever it is called."""
    return None if kind_of(path) else recipe_of(path, "compress")


def kind_of(path: Path) -> str | None:
    """Which verb has begun a run; None if the path is none."""
    with suppress(OSError, ValueError, AttributeError):
        kind = json.loads((path / "run.json").read_bytes()).get("kind", "search")
        return kind if kind in ("train", "compress") else "search"
    return "search" if (path / "run.json").exists() else None


def weights_of(network: Network, path: Path) -> ByNode:
    """The weights in a file, by node. Raises NasError unless they are exactly those of the network."""
    program = emit(network.graph(), standalone=True)
    module = build(program)
    take_weights(module, read_weights(path), path, network.name)
    return by_node(module.state_dict(), program)


def _of_search(path: Path, *, allow_python: bool) -> Start:
    """The architecture that a search has found, with its weights."""
    found = of_run(path, allow_python=allow_python)
    assert found.searched is not None, "it is the architecture of a search"
    text, weights = found.with_weights()
    files = ((Path("network.nas"), text.text),)
    subject = Subject(str(path), "network.nas", text.network, files, allow_python)
    manifest = found.searched.manifest
    return Start(subject, weights, manifest.config, Path(manifest.data_dir))


def _of_training(path: Path, *, allow_python: bool) -> Start:
    folder = TrainFolder(path)
    manifest = folder.training()
    check_ended(folder.weights, path, "train")
    subject = copy_of(folder, manifest, manifest.config, allow_python=allow_python)
    weights = weights_of(subject.network, folder.weights)
    return Start(subject, weights, manifest.config, Path(manifest.data_dir))


def of_compression(path: Path, *, allow_python: bool) -> Start:
    """What a compression has left. Raises NasError if it has not ended."""
    folder = CompressFolder(path)
    manifest = folder.compression()
    check_ended(folder.weights, path, "compress")
    loaded = load_network(folder.network, allow_python=allow_python)
    subject = Subject.of(loaded, str(path), allow_python=allow_python)
    return Start(subject, weights_of(subject.network, folder.weights), manifest.config, Path(manifest.data_dir))


def check_ended(weights: Path, run: Path, verb: str) -> None:
    """Raise NasError if a run has not come to its weights."""
    if not weights.is_file():
        help = f"let it come to an end: `bayesnas-graph {verb} --resume {shlex.quote(str(run))}`"
        raise NasError([Diagnostic("NAS602", f"`{run}` has no weights: it has not ended", help=help)])
