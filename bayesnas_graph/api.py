"""The verbs of the program as Python functions.

    >>> from bayesnas_graph import api as nas
    >>> network = nas.load("lenet5")
    >>> network.name
    'lenet5'

Each function does the same as the verb of its name, but raises `NasError` instead of printing diagnostics. Nothing is
printed, and only requested files are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesnas_graph.api_arguments import (
    AnySpace,
    File,
    Number,
    Value,
    as_path,
    as_toml,
    check_named_data,
    check_source,
    fixed_network,
    located,
    merged_settings,
    path_or_text,
    renamed,
    run_at,
    search_settings,
    take_data,
    warn,
    warn_of_data,
    with_settings_of,
    with_warnings,
)
from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.language.elaborate import Checker, Network, Text, load_network
from bayesnas_graph.report.results import CompressResult, SearchResult, TrainResult
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.subject import load_subject, parameter_values

if TYPE_CHECKING:
    from bayesnas_graph.bayes import Ranking
    from bayesnas_graph.codegen.export import Model
    from bayesnas_graph.codegen.supernet import Supernet
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.derive.sample import Sample
    from bayesnas_graph.passes import DeviceKind, Mode
    from bayesnas_graph.runs.config.compress import CompressConfig
    from bayesnas_graph.runs.config.search import SearchConfig
    from bayesnas_graph.runs.config.train import EvalConfig, TrainConfig
    from bayesnas_graph.runs.sweep.schedule import Sweep, SweepWatcher
    from bayesnas_graph.search.events import SearchWatcher
    from bayesnas_graph.train.compress.events import CompressWatcher
    from bayesnas_graph.train.evaluate import Evaluation
    from bayesnas_graph.train.events import TrainWatcher

__all__ = [
    "Text",
    "check",
    "compile",
    "compress",
    "derive",
    "evaluate",
    "export",
    "load",
    "sample",
    "search",
    "sweep",
    "train",
]


def load(
    file: AnySpace | None = None,
    network: str | None = None,
    *,
    text: str | None = None,
    name: str = "text.nas",
    folder: File | None = None,
    allow_python: bool = False,
    **parameters: Value,
) -> Network:
    """Load a network with values for its parameters. Raises NasError.

    It is from a file, a shipped space, a text, or a space written in Python (`bayesnas_graph.builder`). `name` is the
    name of the text in messages, and `folder` is where its imports are looked up, by default the current folder.
    `Text(text, name, folder)` is the same for the other functions.
    """
    if (file is None) == (text is None):
        raise TypeError("load takes a file or a text")
    space = Text(text, name, as_path(folder)) if text is not None else path_or_text(file or "")
    return load_network(space, network, parameter_values(parameters), allow_python=allow_python).network


def check(file: AnySpace) -> tuple[Diagnostic, ...]:
    """Return all errors and warnings of a file or a text."""
    report = Report()
    space = path_or_text(file)
    if isinstance(space, Text):
        try:
            Checker(report).text(space.source(), space.path())
        except NasError as error:  # it cannot be a text
            return error.diagnostics
        return report.diagnostics
    shipped = None if space.is_file() else shipped_space(str(file))
    Checker(report).path(shipped or space, str(file))
    return report.diagnostics


def sample(network: Network | AnySpace, count: int = 1, *, seed: int = 0, with_replacement: bool = False) -> Sample:
    """Draw architectures of a network at random: connected, distinct, and meeting what the network requires.

    Each is as likely as any other (see `Sample.is_uniform`). `derive` takes the switches of one as `keep`. Fewer are
    returned if there are not so many. Raises NasError if none is found.
    """
    from bayesnas_graph.derive.sample import sample

    loaded = network if isinstance(network, Network) else load(network)
    return sample(loaded, count, seed, with_replacement=with_replacement)


def compile(
    network: Network | AnySpace,
    *,
    zero: Literal["before", "after"] = "after",
    mode: Mode = "written",
    fuse: bool = True,
    device: DeviceKind = "cpu",
    batch: int = 64,
    allow_python: bool = False,
) -> Supernet:
    """Return one torch module with all candidates of a network, each behind its gate."""
    from bayesnas_graph import passes
    from bayesnas_graph.codegen.supernet import Supernet

    loaded = network if isinstance(network, Network) else load(network, allow_python=allow_python)
    graph = passes.run(loaded.graph(), passes.SWITCHES, passes.Options(zero, mode))
    return Supernet.of(graph, device, batch, fuse=fuse)


def search(
    file: AnySpace | None = None,
    *,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python: bool = False,
    watch: tuple[SearchWatcher, ...] = (),
    config: SearchConfig | None = None,
    recipe: str | None = None,
    **settings: Any,
) -> SearchResult:
    """Search a space in a new folder, or resume a search. Raises NasError, or Interrupted after Ctrl-C.

    Settings are those of `bayesnas-graph search --settings`, with `intensity` for `lambda`, which is a Python
    keyword. They override those of `recipe`, by default the one that `bayesnas-graph search` would use; `config`
    replaces both. `data` is a name, or objects: `(train, test)`, each a dataset, a pair of tensors or a data loader. A
    resumed search has its own space and settings, except that `compare_random` can be set later; objects are given
    again.
    """
    from bayesnas_graph.runs.config.search import LATER, SearchConfig
    from bayesnas_graph.runs.settings import merged
    from bayesnas_graph.runs.task import create_run, resume_run, run_to_end
    from bayesnas_graph.search.run import SearchRun

    settings, config, given = take_data(settings, config, resumed=resume is not None)
    kind, where = SearchRun(given=given), as_path(data_dir)
    later = {key: settings.pop(key) for key in LATER if key in settings and resume is not None}
    check_source("search", file, resume, output, config or recipe, settings)
    if resume is not None:
        with resume_run(kind, Path(resume), where, allow_python=allow_python, later=later) as (task, device):
            return SearchResult(task.folder.path, run_to_end(kind, task, device, watch), task.subject.network)
    path = path_or_text(file or "")
    config = config or merged(search_settings(path, recipe, settings), SearchConfig, allow_python=allow_python)
    subject = with_warnings(load_subject(path, config, allow_python=allow_python), watch)
    with create_run(kind, subject, config, where or Path("data"), as_path(output), path.stem) as (task, device):
        warn_of_data(task.problem.data, device, watch)
        if device.processes.first and task.problem.nothing_to_decide:
            warn([task.problem.nothing_to_decide], watch)
        return SearchResult(task.folder.path, run_to_end(kind, task, device, watch), subject.network)


def sweep(
    file: AnySpace | None = None,
    *,
    axes: Mapping[str, Sequence[Number | str]] | None = None,
    seeds: int = 1,
    jobs: int | None = None,
    ray: bool = False,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python: bool = False,
    watch: SweepWatcher | None = None,
    recipe: str | None = None,
    **settings: Any,
) -> Sweep:
    """Search once for every combination of values and every seed, in a new folder, or resume a sweep.

    Every search is a process of its own. `axes` are lists of values by setting; other settings are those of `search`.
    The result has the state and numbers of every run. Raises NasError.
    """
    from bayesnas_graph.runs.sweep.schedule import SweepWatcher
    from bayesnas_graph.runs.sweep.task import create_sweep, resume_sweep, run_to_end

    check_source("sweep", file, resume, output, axes or recipe, settings)
    check_named_data([settings.get("data"), *(axes or {}).get("data", ())])
    where, watcher = as_path(data_dir), watch or SweepWatcher()
    if resume is not None:
        with resume_sweep(Path(resume), data_dir=where, allow_python=allow_python) as resumed:
            run_to_end(resumed, watcher, jobs, ray=ray)
            return resumed
    path = path_or_text(file or "")
    chosen = search_settings(path, recipe, settings)
    texts = [f"{key}={','.join(map(as_toml, values))}" for key, values in renamed(axes or {}).items()]
    out = as_path(output)
    with create_sweep(path, chosen, texts, seeds, data_dir=where, output=out, allow_python=allow_python) as created:
        run_to_end(created, watcher, jobs, ray=ray)
        return created


def derive(
    source: SearchResult | AnySpace,
    *,
    keep_per_edge: int | None = None,
    keep_per_node: int | None = None,
    params: int | None = None,
    flops: int | None = None,
    rank: Ranking = "relevance",
    architecture: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    space: AnySpace | None = None,
    network: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    allow_python: bool = False,
    **more_parameters: Value,
) -> Architecture:
    """Return the architecture found by a search, or one of a space that is given. Raises NasError.

    A given architecture is a text in one of the notations of `--architecture`, or the switches to `keep`, by name.
    `network`, `space` and parameters put its cells into another network. Parameters are given by name or, if the name
    is taken, in `parameters`.
    """
    from bayesnas_graph.derive import Rule, given_architecture
    from bayesnas_graph.runs.searched import architecture_of

    path = source.path if isinstance(source, SearchResult) else path_or_text(source)
    values = parameter_values({**(parameters or {}), **more_parameters})
    if architecture is not None and keep is not None:
        raise TypeError("derive takes an architecture or the switches to keep, not both")
    given = architecture if architecture is not None else keep
    if given is not None:
        return given_architecture(path, given, network=network, parameters=values, allow_python=allow_python)
    if isinstance(path, Text):
        help = "give a run folder, or an architecture with `architecture` or `keep`"
        raise NasError([Diagnostic("NAS602", f"`{path}` is a text, not a run folder", help=help)])
    rule = Rule(keep_per_edge, keep_per_node, params, flops, rank)
    run = open_run(path, "search", allow_python=allow_python)
    target = None if space is None else path_or_text(space)
    return architecture_of(run, rule, space=target, network=network, parameters=values)


def export(
    source: Architecture | Network | AnySpace,
    path: File | None = None,
    *,
    weights: File | None = None,
    force: bool = False,
    allow_python: bool = False,
) -> Model:
    """Return a network without choices as source that needs only torch, and as weights. Raises NasError.

    A file is written for each given path; an existing one that would change is replaced only with `force`. The source
    is that of an architecture, a network, a file, a shipped space, a text, or a training or compression run. `build`
    builds the network, and `program.text` is its source.
    """
    from bayesnas_graph.codegen.export import model_of
    from bayesnas_graph.derive import Architecture

    if isinstance(source, Architecture):
        model = source.model(weights=weights is not None)
    elif isinstance(source, Network):
        model = model_of(source, source.name)
    elif (run := run_at(source, allow_python=allow_python)) is not None:
        subject, tensors = run.result
        model = model_of(subject.network, subject.name, tensors)
    else:
        model = model_of(load(source, allow_python=allow_python), str(path_or_text(source)))
    if weights is not None and model.weights is None:
        message = f"network `{model.graph.name}` comes from a `.nas` file and has no weights"
        help = "use a search run, or train it: `bayesnas-graph train` writes weights for the exported source"
        raise NasError([Diagnostic("NAS616", message, help=help)])
    model.write(as_path(path), as_path(weights), force=force)
    return model


def train(
    source: Architecture | AnySpace | None = None,
    *,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python: bool = False,
    watch: tuple[TrainWatcher, ...] = (),
    config: TrainConfig | None = None,
    **settings: Any,
) -> TrainResult:
    """Train a network without choices in a new folder, or resume. Raises NasError, or Interrupted after Ctrl-C.

    The source is an architecture, a file, a shipped space, a text, or the folder of a search. Settings are those of
    `bayesnas-graph train --settings`; `config` replaces them.
    """
    from bayesnas_graph.runs.config.train import TrainConfig
    from bayesnas_graph.runs.task import create_run, resume_run, run_to_end
    from bayesnas_graph.train.run import TrainRun

    settings, config, given = take_data(settings, config, resumed=resume is not None)
    check_source("train", source, resume, output, config, settings)
    kind, where = TrainRun(given=given), as_path(data_dir)
    if resume is not None:
        with resume_run(kind, Path(resume), where, allow_python=allow_python) as (task, device):
            return TrainResult(task.folder.path, run_to_end(kind, task, device, watch), task.subject.network)
    assert source is not None, "checked by check_source"
    config = config or merged_settings(TrainConfig, None, settings)
    subject, config = fixed_network(source, config, allow_python=allow_python)
    name = f"{path_or_text(source).stem if isinstance(source, AnySpace) else 'derived'}-train"
    with_warnings(subject, watch)
    with create_run(kind, subject, config, where or Path("data"), as_path(output), name) as (task, device):
        warn_of_data(task.problem.data, device, watch)
        return TrainResult(task.folder.path, run_to_end(kind, task, device, watch), subject.network)


def compress(
    source: SearchResult | TrainResult | AnySpace | None = None,
    *,
    weights: File | None = None,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python: bool = False,
    watch: tuple[CompressWatcher, ...] = (),
    config: CompressConfig | None = None,
    **settings: Any,
) -> CompressResult:
    """Compress a network, or that of a run, in a new folder, or resume a compression run.

    Raises NasError, or Interrupted after Ctrl-C. Settings are those of `bayesnas-graph compress --settings`, with
    `intensity` for `lambda`. They override the recipe of the network, if there is one; `config` replaces both.
    """
    from bayesnas_graph.runs.config.compress import CompressConfig
    from bayesnas_graph.runs.task import create_run, resume_run, run_to_end
    from bayesnas_graph.train.compress.run import CompressRun
    from bayesnas_graph.train.compress.source import recipe_for, start_of

    settings, config, given = take_data(settings, config, resumed=resume is not None)
    check_source("compress", source, resume, output or weights, config, settings)
    where = as_path(data_dir)
    if resume is not None:
        kind = CompressRun(given=given)
        with resume_run(kind, Path(resume), where, allow_python=allow_python) as (task, device):
            return CompressResult(task.folder.path, run_to_end(kind, task, device, watch))
    assert source is not None, "checked by check_source"
    path, allow_python = located(source, allow_python=allow_python)
    config = config or merged_settings(CompressConfig, recipe_for(path), settings, allow_python=allow_python)
    start, config = start_of(path, config, as_path(weights), allow_python=allow_python)
    kind, subject = CompressRun(start.weights, given=given), with_warnings(start.subject, watch)
    where = where or start.data_dir or Path("data")
    with create_run(kind, subject, config, where, as_path(output), f"{path.stem}-compress") as (task, device):
        warn_of_data(task.problem.data, device, watch)
        return CompressResult(task.folder.path, run_to_end(kind, task, device, watch))


def evaluate(
    source: SearchResult | TrainResult | CompressResult | AnySpace,
    *,
    weights: File | None = None,
    data_dir: File | None = None,
    runs: int = 30,
    allow_python: bool = False,
    config: EvalConfig | None = None,
    **settings: Any,
) -> Evaluation:
    """Measure the network of a run, or of a file: accuracy on the test set, size and latency. Raises NasError.

    Settings are those of `EvalConfig`; a run provides the defaults. Without data, accuracy is not measured; without
    weights, random ones are used.
    """
    from bayesnas_graph.codegen.emit.memory import check_memory
    from bayesnas_graph.codegen.export.weights import weights_by_node
    from bayesnas_graph.runs.config.train import EvalConfig
    from bayesnas_graph.runs.device import prepare_device
    from bayesnas_graph.runs.loading import load_data
    from bayesnas_graph.train.evaluate import evaluate

    path, allow_python = located(source, allow_python=allow_python)
    settings, config, given = take_data(settings, config)
    config, where = config or merged_settings(EvalConfig, None, settings), Path("data")
    run, tensors = run_at(path, allow_python=allow_python), None
    if run is not None:
        subject, tensors = run.result
        config, where = with_settings_of(run, config), Path(run.manifest.data_dir)
    else:
        subject, config = fixed_network(path, config, allow_python=allow_python)
        if weights is not None:
            tensors = weights_by_node(subject.network, Path(weights))
    check_memory(subject.network.graph())
    with prepare_device(config) as device:
        where = as_path(data_dir) or where
        data = None
        if config.data is not None:
            data = load_data(subject, config, config.seed, where, device.processes, given)
        return evaluate(subject, tensors, data, config, device, runs)
