"""The program as functions, with plain values in and out.

    >>> from bayesnas_graph import api as nas
    >>> network = nas.load("lenet5")
    >>> network.name
    'lenet5'

Each function does what the verb of its name does, and raises `NasError` where the verb prints diagnostics. Nothing is
printed, and no file is written that was not asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import Checker, Loaded, Network, load_network
from bayesnas_graph.language.elaborate.load import Number
from bayesnas_graph.report.results import Compressed, Found, Trained

if TYPE_CHECKING:
    from bayesnas_graph.bayes import Ranking
    from bayesnas_graph.codegen.supernet import Supernet
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.export import Model
    from bayesnas_graph.passes import Device, Mode
    from bayesnas_graph.search.events import Watcher
    from bayesnas_graph.train.compress.events import Watcher as CompressWatcher
    from bayesnas_graph.train.events import Watcher as TrainWatcher

File = str | Path
Value = int | float | bool | Fraction


def load(file: File, network: str | None = None, *, allow_python_ops: bool = False, **parameters: Value) -> Network:
    """A network of a file, or of a shipped space, with values for its parameters. Raises NasError."""
    return _loaded(file, network, parameters, allow_python=allow_python_ops).network


def check(file: File) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a file, warnings included; nothing if all is well."""
    report = Report()
    shipped = None if Path(file).is_file() else shipped_space(str(file))
    Checker(report).path(shipped or Path(file), str(file))
    return report.diagnostics


def compile(
    network: Network | File,
    *,
    zero: Literal["before", "after"] = "after",
    mode: Mode = "written",
    fuse: bool = True,
    device: Device = "cpu",
    batch: int = 64,
) -> Supernet:
    """One torch module with all candidates of a network, each behind its gate."""
    from bayesnas_graph import passes
    from bayesnas_graph.codegen.supernet import Supernet

    found = network if isinstance(network, Network) else load(network)
    graph = passes.run(found.graph(), passes.passes(zero=zero, mode=mode, fuse=False))
    return Supernet.of(graph, device, batch, fuse=fuse)


def search(
    file: File | None = None,
    *,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python_ops: bool = False,
    watch: tuple[Watcher, ...] = (),
    **settings: Any,
) -> Found:
    """Search a space in a new folder, or go on with a run. Raises NasError, or Interrupted after Ctrl-C.

    Settings are those of `bayesnas-graph search --settings`, `intensity` standing for `lambda`, which is a word of
    Python. Where a space comes with a recipe, they change that. A run that goes on has its own space and settings.
    """
    from bayesnas_graph.runs.device import only_here, prepared
    from bayesnas_graph.runs.folder import RunFolder
    from bayesnas_graph.runs.settings import configured, read_settings, recipe_of, told
    from bayesnas_graph.runs.subject import Subject, copy_of
    from bayesnas_graph.search.run import Task, begun, go, posed

    if (file is None) == (resume is None) or (resume is not None and (settings or output is not None)):
        raise TypeError("search takes a file and settings, or a run to `resume` and nothing else")
    if resume is not None:
        folder = RunFolder(Path(resume))
        manifest = folder.manifest()
        subject = copy_of(folder, manifest, manifest.config, allow_python=allow_python_ops)
        with prepared(manifest.config, manifest.threads) as place, only_here(folder, place):
            where = _path(data_dir) or Path(manifest.data_dir)
            task = Task(subject, posed(subject, manifest.config, where, place.processes), where, folder)
            return Found(folder.path, go(task, place, watch), subject.network)
    assert file is not None, "there is one of the two"
    if "intensity" in settings:
        settings["lambda"] = settings.pop("intensity")
    recipe = recipe_of(Path(file))
    config = configured([*([read_settings(recipe)] if recipe else []), told(settings)])
    loaded = _loaded(file, config.network, config.parameters, allow_python=allow_python_ops)
    subject = Subject.of(loaded, str(file), allow_python=allow_python_ops)
    with prepared(config) as place:
        task = begun(subject, config, _path(data_dir) or Path("data"), _path(output), Path(file).stem, place)
        with only_here(task.folder, place):
            return Found(task.folder.path, go(task, place, watch), subject.network)


def derive(
    source: Found | File,
    *,
    keep_per_edge: int | None = None,
    keep_per_node: int | None = None,
    params: int | None = None,
    flops: int | None = None,
    rank: Ranking = "relevance",
    architecture: str | None = None,
    space: File | None = None,
    network: str | None = None,
    allow_python_ops: bool = False,
    **parameters: Value,
) -> Architecture:
    """The architecture that a search has found, or that a string describes in a space. Raises NasError.

    `network`, `space` and parameters put its cells into another network.
    """
    from bayesnas_graph.derive import Rule, of_run, of_string

    path = source.path if isinstance(source, Found) else Path(source)
    given = {name: _number(value) for name, value in parameters.items()}
    if architecture is not None:
        return of_string(path, architecture, network=network, parameters=given, allow_python=allow_python_ops)
    rule = Rule(keep_per_edge, keep_per_node, params, flops, rank)
    return of_run(path, rule, space=_path(space), network=network, parameters=given, allow_python=allow_python_ops)


def export(source: Architecture | Network | File, path: File | None = None, *, weights: File | None = None) -> Model:
    """A network without choices as source that needs torch alone, and with the weights of a search. Raises NasError.

    Written where paths are given. The model builds the network (`build`) and tells its source (`program.text`).
    """
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.export import model_of, model_of_network

    if isinstance(source, Architecture):
        model = model_of(source, weights=weights is not None)
    else:
        found = source if isinstance(source, Network) else load(source)
        if weights is not None:
            raise NasError([Diagnostic("NAS616", f"network `{found.name}` is a text, and has no weights")])
        model = model_of_network(found, found.name if isinstance(source, Network) else str(source))
    if path is not None:
        model.write_source(Path(path))
    if weights is not None:
        model.write_weights(Path(weights))
    return model


def train(
    source: Architecture | File,
    *,
    output: File | None = None,
    data_dir: File = "data",
    allow_python_ops: bool = False,
    watch: tuple[TrainWatcher, ...] = (),
    **settings: Any,
) -> Trained:
    """Train a network without choices from scratch, in a new folder. Raises NasError, or Interrupted after Ctrl-C.

    Settings are those of `bayesnas-graph train --settings`.
    """
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.runs.device import only_here, prepared
    from bayesnas_graph.runs.settings import merged, told
    from bayesnas_graph.runs.subject import Subject
    from bayesnas_graph.train.config import TrainConfig
    from bayesnas_graph.train.run import begun, go

    config = merged([told(settings)], TrainConfig)
    if isinstance(source, Architecture):
        text, name = source.written, "derived"
        subject = Subject(name, "network.nas", text.network, ((Path("network.nas"), text.text),), allow_python_ops)
    else:
        name = Path(source).stem
        loaded = _loaded(source, config.network, config.parameters, allow_python=allow_python_ops)
        subject = Subject.of(loaded, str(source), allow_python=allow_python_ops)
    with prepared(config) as place:
        task = begun(subject, config, Path(data_dir), _path(output), f"{name}-train", place)
        with only_here(task.folder, place):
            return Trained(task.folder.path, go(task, place, watch), subject.network)


def compress(
    source: Found | Trained | File | None = None,
    *,
    weights: File | None = None,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python_ops: bool = False,
    watch: tuple[CompressWatcher, ...] = (),
    **settings: Any,
) -> Compressed:
    """Make a network, or that of a run, smaller in a new folder, or go on with a compression.

    Raises NasError, or Interrupted after Ctrl-C. Settings are those of `bayesnas-graph compress --settings`,
    `intensity` standing for `lambda`. Where a network comes with a recipe, they change that.
    """
    from bayesnas_graph.runs.device import only_here, prepared
    from bayesnas_graph.runs.settings import read_settings, told
    from bayesnas_graph.train.compress.run import begun, go, task_of
    from bayesnas_graph.train.compress.source import configured, recipe_for

    if (source is None) == (resume is None) or (resume is not None and (settings or output or weights)):
        raise TypeError("compress takes a network and settings, or a run to `resume` and nothing else")
    if resume is not None:
        with task_of(Path(resume), _path(data_dir), allow_python=allow_python_ops) as (task, place):
            return Compressed(task.folder.path, go(task, place, watch))
    assert source is not None, "there is one of the two"
    path = source.path if isinstance(source, Found | Trained) else Path(source)
    if "intensity" in settings:
        settings["lambda"] = settings.pop("intensity")
    recipe = recipe_for(path)
    given = [*([read_settings(recipe)] if recipe else []), told(settings)]
    start, config = configured(path, given, _path(weights), allow_python=allow_python_ops)
    with prepared(config) as place:
        where = _path(data_dir) or start.data_dir or Path("data")
        task = begun(start.subject, config, where, _path(output), f"{path.stem}-compress", place, start.weights)
        with only_here(task.folder, place):
            return Compressed(task.folder.path, go(task, place, watch))


def _loaded(file: File, network: str | None, parameters: Mapping[str, Any], *, allow_python: bool) -> Loaded:
    given = {name: _number(value) for name, value in parameters.items()}
    return load_network(Path(file), network, given, allow_python=allow_python)


def _path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def _number(value: Any) -> Number:
    """A value for a parameter, exact as it is written."""
    from bayesnas_graph.language.elaborate.load import number

    return number(str(value).lower())
