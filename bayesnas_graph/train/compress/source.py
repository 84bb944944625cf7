"""The source of a compression run: a network without choices, and its weights, if any."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.export.weights import weights_by_node
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.elaborate import Text
from bayesnas_graph.language.elaborate.load import check_fixed
from bayesnas_graph.runs.augmentation import AUGMENTATION
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.manifest import kind_of
from bayesnas_graph.runs.opening import Run, open_run
from bayesnas_graph.runs.recipes import recipe_of
from bayesnas_graph.runs.subject import Subject, load_subject

OF_DATA = {"data", "pad", *AUGMENTATION}  # settings inherited from the compressed run


@dataclass(frozen=True, eq=False)
class Start:
    """A network, its weights by node, and where its data are."""

    subject: Subject
    weights: ByNode | None = None
    data_dir: Path | None = None


def start_of(
    path: Path | Text, config: CompressConfig, weights: Path | None = None, *, allow_python: bool
) -> tuple[Start, CompressConfig]:
    """Return a network, and the settings; a run adds its data settings to them.

    The network is a text, or that of a file, a shipped space, or a run folder. Raises NasError if there are choices
    left, or if the weights do not fit.
    """
    if isinstance(path, Text) or kind_of(path) is None:
        subject = load_subject(path, config, allow_python=allow_python)
        check_fixed(subject.network)
        tensors = None if weights is None else weights_by_node(subject.network, weights)
        return Start(subject, tensors), config
    if weights is not None or config.network is not None or config.parameters:
        message = f"`{path}` is a run folder, which has its own network and weights"
        raise NasError([Diagnostic("NAS601", message, help="omit `--weights`, `--network` and `-p`")])
    run = open_run(path, allow_python=allow_python)
    subject, tensors = run.result
    return Start(subject, tensors, Path(run.manifest.data_dir)), _with_data_of(run, config)


def _with_data_of(run: Run, config: CompressConfig) -> CompressConfig:
    """Return the settings with the data settings of a run, unless they are already set."""
    values = run.settings(OF_DATA - config.model_fields_set)
    return CompressConfig.model_validate(values | config.model_dump(by_alias=True, exclude_unset=True))


def recipe_for(path: Path | Text) -> Path | None:
    """Return the settings file of a network; None for a text, and for a run, which has its own settings."""
    return None if isinstance(path, Text) or kind_of(path) else recipe_of(path, "compress")
