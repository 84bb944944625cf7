"""What the functions of the API take: files, texts, runs and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bayesnas_graph.api.loaded import check_own, of_network, source_of
from bayesnas_graph.builder import Space
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.elaborate import Network, Text
from bayesnas_graph.report.results import CompressResult, SearchResult, TrainResult
from bayesnas_graph.runs.config.groups import DataSettings, Group
from bayesnas_graph.runs.opening import Run, open_run
from bayesnas_graph.runs.subject import Subject, load_subject, parameter_values
from bayesnas_graph.runs.watching import Watcher

if TYPE_CHECKING:
    from bayesnas_graph.data import Data
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.runs.config.train import EvalConfig
    from bayesnas_graph.runs.device import Device
    from bayesnas_graph.runs.given import GivenData
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.runs.sweep.schedule import Sweep
    from bayesnas_graph.runs.watching import Watcher

File = str | Path
AnySpace = File | Text | Space  # a file, the name of a shipped space, a text, or a space written in Python
AnyNetwork = AnySpace | Network  # the same, or a network that is already loaded
AnyResult = SearchResult | TrainResult | CompressResult
Number = int | float | bool | Fraction
Value = Number | Sequence[Number]  # of a parameter
C = TypeVar("C", bound=Group)
S = TypeVar("S", bound=DataSettings)
W = TypeVar("W", bound=Watcher)


def located(source: AnyResult | AnyNetwork, *, allow_python: bool) -> tuple[Path | Text, bool]:
    """Return the path of a source, and whether its Python code may run: that of a result has run in this process."""
    return (path_or_text(source), allow_python) if isinstance(source, AnyNetwork) else (source.path, True)


def with_settings_of(run: Run, config: EvalConfig) -> EvalConfig:
    """Return settings with those of a run as defaults, except for its network and what is only for training."""
    training = {"accumulate", "augment", "network", "parameters"}
    keys = set(type(config).model_fields) - training - config.model_fields_set
    return type(config).model_validate(run.settings(keys) | config.model_dump(exclude_unset=True))


def fixed_network(source: Architecture | AnyNetwork, config: S, *, allow_python: bool) -> tuple[Subject, S]:
    """Return the network without choices of a source, and settings that fit it. Raises NasError.

    The text of an architecture has no parameters, so settings for them are dropped.
    """
    from bayesnas_graph.language.elaborate.load import check_fixed
    from bayesnas_graph.runs.searched import architecture_of

    name = "derived"
    if isinstance(source, AnyNetwork):
        path, config = path_or_text(source), of_network(config, source)
        name = str(path)
        if isinstance(path, Text) or run_at(path) is None:
            subject = load_subject(path, config, allow_python=allow_python)
            check_fixed(subject.network)
            return subject, config
        run, values = open_run(path, "search", allow_python=allow_python), parameter_values(config.parameters)
        source = architecture_of(run, network=config.network, parameters=values)
    subject = Subject.derived(name, source.written, allow_python=allow_python)
    return subject, config.model_copy(update={"network": None, "parameters": {}})


def with_data_of_search(
    source: Architecture | AnyNetwork, config: S, data_dir: Path | None, *, allow_python: bool
) -> tuple[S, Path | None]:
    """Return settings with the data of a search, if it is the source and no data are set, and the folder of its files.

    Raises NasError.
    """
    run = None
    if isinstance(source, AnyNetwork) and config.data is None:
        run = run_at(path_or_text(source), allow_python=allow_python)
    if run is None:
        return config, data_dir
    values = run.settings({"data", "pad"} - config.model_fields_set)
    return config.model_copy(update=values), data_dir or Path(run.manifest.data_dir)


def check_source(
    verb: str, source: object, resume: object, output: object, config: object, settings: Mapping[str, Any]
) -> None:
    """Raise TypeError unless there is a network with settings, or only a run to resume."""
    if (source is None) == (resume is None) or (resume is not None and (settings or config or output is not None)):
        raise TypeError(f"{verb} takes a network and settings, or a run to `resume` and nothing else")
    check_own(source, settings)


def take_data(
    settings: Mapping[str, Any], config: C | None, *, resumed: bool = False
) -> tuple[dict[str, Any], C | None, GivenData | None]:
    """Take data that are objects out of keyword arguments. Return settings, and a config, that refer to them.

    A resumed run refers to them already. Raises NasError if they cannot be used.
    """
    value = settings.get("data")
    if value is None or isinstance(value, str):
        return dict(settings), config, None
    from bayesnas_graph.runs.given import FROM_PYTHON, given_data

    others = {key: other for key, other in settings.items() if key != "data"}
    named = {} if resumed else {"data": FROM_PYTHON}
    return others | named, config and config.model_copy(update=named), given_data(value)


def check_named_data(values: Sequence[object]) -> None:
    """Raise NasError if data are objects, where other processes have to load them."""
    if not all(value is None or isinstance(value, str) for value in values):
        message = "a sweep searches in processes of its own, which cannot be given data from Python"
        help = 'name a function that returns the data: `data="package.module:callable"`'
        raise NasError([Diagnostic("NAS510", message, help=help)])


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


def path_or_text(space: AnyNetwork) -> Path | Text:
    """Return the path of a space, or its text if it is not a file. Raises NasError for a network that has changed."""
    if isinstance(space, Network):
        return source_of(space)
    if isinstance(space, Space):
        return space.as_text()
    return space if isinstance(space, Text) else Path(space)


def watchers_of(watch: W | Sequence[W], loggers: Sequence[W]) -> tuple[W, ...]:
    """Return the watchers that were given, one or several, and those that log."""
    return (*([watch] if isinstance(watch, Watcher) else watch), *loggers)


def as_path(file: File | None) -> Path | None:
    """Return a path, or None."""
    return None if file is None else Path(file)


def folder_of(run: AnyResult | Sweep | File) -> Path:
    """Return the folder of a run or a sweep."""
    from bayesnas_graph.runs.sweep.schedule import Sweep

    if isinstance(run, File):
        return Path(run)
    return run.folder.path if isinstance(run, Sweep) else run.path
