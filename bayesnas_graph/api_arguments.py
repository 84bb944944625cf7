"""What the functions of the API take: files, texts, runs and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bayesnas_graph.builder import Space
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.language.elaborate import Text
from bayesnas_graph.report.results import CompressResult, SearchResult, TrainResult
from bayesnas_graph.runs.config.groups import DataSettings, Group
from bayesnas_graph.runs.opening import Run, open_run
from bayesnas_graph.runs.subject import Subject, load_subject, parameter_values

if TYPE_CHECKING:
    from bayesnas_graph.data import Data
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.runs.config.train import EvalConfig
    from bayesnas_graph.runs.device import Device
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.runs.watching import Watcher

File = str | Path
AnySpace = File | Text | Space  # a file, the name of a shipped space, a text, or a space written in Python
Number = int | float | bool | Fraction
Value = Number | Sequence[Number]  # of a parameter
C = TypeVar("C", bound=Group)
S = TypeVar("S", bound=DataSettings)


def located(
    source: SearchResult | TrainResult | CompressResult | AnySpace, *, allow_python: bool
) -> tuple[Path | Text, bool]:
    """Return the path of a source, and whether its Python code may run: that of a result has run in this process."""
    return (path_or_text(source), allow_python) if isinstance(source, AnySpace) else (source.path, True)


def with_settings_of(run: Run, config: EvalConfig) -> EvalConfig:
    """Return settings with those of a run as defaults, except for its network and what is only for training."""
    training = {"accumulate", "augment", "network", "parameters"}
    keys = set(type(config).model_fields) - training - config.model_fields_set
    return type(config).model_validate(run.settings(keys) | config.model_dump(exclude_unset=True))


def fixed_network(source: Architecture | AnySpace, config: S, *, allow_python: bool) -> tuple[Subject, S]:
    """Return the network without choices of a source, and settings that fit it. Raises NasError.

    The text of an architecture has no parameters, so settings for them are dropped.
    """
    from bayesnas_graph.language.elaborate.load import check_fixed
    from bayesnas_graph.runs.searched import architecture_of

    name = "derived"
    if isinstance(source, AnySpace):
        path = path_or_text(source)
        name = str(path)
        if isinstance(path, Text) or run_at(path) is None:
            subject = load_subject(path, config, allow_python=allow_python)
            check_fixed(subject.network)
            return subject, config
        run, values = open_run(path, "search", allow_python=allow_python), parameter_values(config.parameters)
        source = architecture_of(run, network=config.network, parameters=values)
    subject = Subject.derived(name, source.written, allow_python=allow_python)
    return subject, config.model_copy(update={"network": None, "parameters": {}})


def check_source(
    verb: str, source: object, resume: object, output: object, config: object, settings: Mapping[str, Any]
) -> None:
    """Raise TypeError unless there is a network with settings, or only a run to resume."""
    if (source is None) == (resume is None) or (resume is not None and (settings or config or output is not None)):
        raise TypeError(f"{verb} takes a network and settings, or a run to `resume` and nothing else")


def merged_settings(
    kind: type[C], recipe: Path | None, settings: Mapping[str, Any], *, allow_python: bool = False
) -> C:
    """Return the settings of a recipe, overridden by keyword arguments. Raises NasError."""
    from bayesnas_graph.runs.settings import from_values, merged, read_settings

    layers = [*([read_settings(recipe)] if recipe else []), from_values(renamed(settings))]
    return merged(layers, kind, allow_python=allow_python)


def search_settings(file: Path | Text, recipe: str | None, settings: Mapping[str, Any]) -> list[Settings]:
    """Return the settings of a recipe and the keyword arguments that override them. Raises NasError."""
    from bayesnas_graph.runs.recipes import choose_recipe, device_of
    from bayesnas_graph.runs.settings import from_values, read_settings

    given = from_values(renamed(settings))
    chosen = choose_recipe(file, recipe, device_of([given]))
    return [given] if chosen is None else [read_settings(chosen.path), given]


def renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by the keys of a settings file."""
    return {"lambda" if name == "intensity" else name: value for name, value in settings.items()}


def as_toml(value: Number | str) -> str:
    """Return a value as in a settings file."""
    return json.dumps(value if isinstance(value, str | bool | int) else float(value))


def with_warnings(subject: Subject, watch: tuple[Watcher, ...]) -> Subject:
    """Return a subject, after its warnings were passed on."""
    warn(subject.warnings, watch)
    return subject


def warn_of_data(data: Data, device: Device, watch: tuple[Watcher, ...]) -> None:
    """Pass on the warnings about data, once."""
    if device.processes.first and data.warnings:
        warn(data.warnings, watch)


def warn(diagnostics: Sequence[Diagnostic], watch: tuple[Watcher, ...]) -> None:
    """Pass warnings on to all watchers."""
    for watcher in watch:
        watcher.warned(diagnostics)


def run_at(path: AnySpace, *, allow_python: bool = False) -> Run | None:
    """Open a run folder; None if there is no `run.json`."""
    if isinstance(path, Text | Space):
        return None
    is_run = (Path(path) / "run.json").is_file()
    return open_run(Path(path), allow_python=allow_python) if is_run else None


def path_or_text(space: AnySpace) -> Path | Text:
    """Return the path of a space, or its text if it is not a file."""
    if isinstance(space, Space):
        return space.as_text()
    return space if isinstance(space, Text) else Path(space)


def as_path(file: File | None) -> Path | None:
    """Return a path, or None."""
    return None if file is None else Path(file)
