"""Running a search, a sweep, a training or a compression, and measuring networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnas_graph.api.arguments import (
    AnyNetwork,
    AnyResult,
    File,
    Number,
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
    watchers_of,
    with_data_of_search,
    with_settings_of,
    with_warnings,
)
from bayesnas_graph.api.loaded import check_own, layers_of_network, of_network
from bayesnas_graph.report.results import CompressResult, SearchResult, TrainResult
from bayesnas_graph.runs.subject import load_subject

if TYPE_CHECKING:
    from bayesnas_graph.derive import Architecture
    from bayesnas_graph.runs.config.compress import CompressConfig
    from bayesnas_graph.runs.config.search import SearchConfig
    from bayesnas_graph.runs.config.train import EvalConfig, TrainConfig
    from bayesnas_graph.runs.sweep.schedule import Sweep, SweepWatcher
    from bayesnas_graph.search.events import SearchWatcher
    from bayesnas_graph.train.compress.events import CompressWatcher
    from bayesnas_graph.train.evaluate import Evaluation
    from bayesnas_graph.train.events import TrainWatcher


def search(
    file: AnyNetwork | None = None,
    *,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python: bool = False,
    watch: SearchWatcher | Sequence[SearchWatcher] = (),
    loggers: Sequence[str] = (),
    config: SearchConfig | None = None,
    recipe: str | None = None,
    **settings: Any,
) -> SearchResult:
    """Search a space in a new folder, or resume a search. Raises NasError, or Interrupted after Ctrl-C.

    The space is a file, a shipped space, a text, or a loaded network. Settings are those of `bayesnas-graph search
    --settings`, with `intensity` for `lambda`, which is a Python keyword. They override those of `recipe`, by default
    the one that `bayesnas-graph search` would use; `config` replaces both. A loaded network is searched with its own
    parameters, whatever a recipe says. `data` is a name, or objects: `(train, test)`, each a dataset, a pair of tensors
    or a data loader. A resumed search has its own space and settings, except that `compare_random` can be set later;
    objects are given again. Watchers are notified of events; `loggers` are the names of some: `tensorboard`, `wandb`,
    `mlflow`. The result has the run folder and its tables, and what was found.
    """
    from bayesnas_graph.runs.config.search import LATER, SearchConfig
    from bayesnas_graph.runs.settings import merged
    from bayesnas_graph.runs.task import create_run, resume_run, run_to_end
    from bayesnas_graph.search.loggers import search_loggers
    from bayesnas_graph.search.run import SearchRun

    settings, config, given = take_data(settings, config, resumed=resume is not None)
    kind, where = SearchRun(given=given), as_path(data_dir)
    watch = watchers_of(watch, search_loggers(loggers))
    later = {key: settings.pop(key) for key in LATER if key in settings and resume is not None}
    check_source("search", file, resume, output, config or recipe, settings)
    if resume is not None:
        with resume_run(kind, Path(resume), where, allow_python=allow_python, later=later) as (task, device):
            return SearchResult(task.folder.path, run_to_end(kind, task, device, watch), task.subject.network)
    path = path_or_text(file or "")
    config = config or merged(search_settings(path, recipe, settings), SearchConfig, allow_python=allow_python)
    config = of_network(config, file)
    subject = with_warnings(load_subject(path, config, allow_python=allow_python), watch)
    with create_run(kind, subject, config, where or Path("data"), as_path(output), path.stem) as (task, device):
        warn_of_data(task.problem.data, device, watch)
        if device.processes.first and task.problem.nothing_to_decide:
            warn([task.problem.nothing_to_decide], watch)
        return SearchResult(task.folder.path, run_to_end(kind, task, device, watch), subject.network)


def sweep(
    file: AnyNetwork | None = None,
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

    The space, its `recipe` and other settings are as for `search`. `axes` are lists of values by setting, each searched
    with `seeds` seeds. Every search is a process of its own; `jobs` of them run at a time, by default one for each GPU,
    or what the cores allow. With `ray` they run on a Ray cluster. The result has the state and numbers of every run,
    also of those that failed. Raises NasError for settings that cannot be used.
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
    chosen = layers_of_network(search_settings(path, recipe, settings), file)
    texts = [f"{key}={','.join(map(as_toml, values))}" for key, values in renamed(axes or {}).items()]
    out = as_path(output)
    with create_sweep(path, chosen, texts, seeds, data_dir=where, output=out, allow_python=allow_python) as created:
        run_to_end(created, watcher, jobs, ray=ray)
        return created


def train(
    source: Architecture | SearchResult | AnyNetwork | None = None,
    *,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python: bool = False,
    watch: TrainWatcher | Sequence[TrainWatcher] = (),
    loggers: Sequence[str] = (),
    config: TrainConfig | None = None,
    **settings: Any,
) -> TrainResult:
    """Train a network without choices in a new folder, or resume. Raises NasError, or Interrupted after Ctrl-C.

    The source is an architecture, a search or its folder, a file, a shipped space, a text, or a loaded network.
    Settings are those of `bayesnas-graph train --settings`; `config` replaces them. The data of a search are used
    unless others are set. Watchers are notified of events;
    `loggers` are the names of some: `tensorboard`, `wandb`, `mlflow`. The result has the run folder and its table, and
    what was measured.
    """
    from bayesnas_graph.runs.config.train import TrainConfig
    from bayesnas_graph.runs.task import create_run, resume_run, run_to_end
    from bayesnas_graph.train.loggers import train_loggers
    from bayesnas_graph.train.run import TrainRun

    settings, config, given = take_data(settings, config, resumed=resume is not None)
    check_source("train", source, resume, output, config, settings)
    kind, where = TrainRun(given=given), as_path(data_dir)
    watch = watchers_of(watch, train_loggers(loggers))
    if resume is not None:
        with resume_run(kind, Path(resume), where, allow_python=allow_python) as (task, device):
            return TrainResult(task.folder.path, run_to_end(kind, task, device, watch), task.subject.network)
    assert source is not None, "checked by check_source"
    config = config or merged_settings(TrainConfig, None, settings)
    source = source.path if isinstance(source, SearchResult) else source
    config, where = with_data_of_search(source, config, where, allow_python=allow_python)
    subject, config = fixed_network(source, config, allow_python=allow_python)
    name = f"{path_or_text(source).stem if isinstance(source, AnyNetwork) else 'derived'}-train"
    with_warnings(subject, watch)
    with create_run(kind, subject, config, where or Path("data"), as_path(output), name) as (task, device):
        warn_of_data(task.problem.data, device, watch)
        return TrainResult(task.folder.path, run_to_end(kind, task, device, watch), subject.network)


def compress(
    source: AnyResult | AnyNetwork | None = None,
    *,
    weights: File | None = None,
    output: File | None = None,
    resume: File | None = None,
    data_dir: File | None = None,
    allow_python: bool = False,
    watch: CompressWatcher | Sequence[CompressWatcher] = (),
    config: CompressConfig | None = None,
    **settings: Any,
) -> CompressResult:
    """Compress a network in a new folder, or resume a compression run. Raises NasError, or Interrupted after Ctrl-C.

    The source is a run or its folder, a file, a shipped space, a text, or a loaded network; `weights` is a file of
    weights for one that is not a run. Settings are those of `bayesnas-graph compress --settings`, with `intensity` for
    `lambda`. They override the recipe of the network, if there is one; `config` replaces both. The result has the run
    folder and its tables, and the networks before and after.
    """
    from bayesnas_graph.runs.config.compress import CompressConfig
    from bayesnas_graph.runs.task import create_run, resume_run, run_to_end
    from bayesnas_graph.train.compress.run import CompressRun
    from bayesnas_graph.train.compress.source import recipe_for, start_of

    settings, config, given = take_data(settings, config, resumed=resume is not None)
    check_source("compress", source, resume, output or weights, config, settings)
    where, watch = as_path(data_dir), watchers_of(watch, ())
    if resume is not None:
        kind = CompressRun(given=given)
        with resume_run(kind, Path(resume), where, allow_python=allow_python) as (task, device):
            return CompressResult(task.folder.path, run_to_end(kind, task, device, watch))
    assert source is not None, "checked by check_source"
    path, allow_python = located(source, allow_python=allow_python)
    config = config or merged_settings(CompressConfig, recipe_for(path), settings, allow_python=allow_python)
    start, config = start_of(path, of_network(config, source), as_path(weights), allow_python=allow_python)
    kind, subject = CompressRun(start.weights, given=given), with_warnings(start.subject, watch)
    where = where or start.data_dir or Path("data")
    with create_run(kind, subject, config, where, as_path(output), f"{path.stem}-compress") as (task, device):
        warn_of_data(task.problem.data, device, watch)
        return CompressResult(task.folder.path, run_to_end(kind, task, device, watch))


def evaluate(
    source: AnyResult | AnyNetwork,
    *,
    weights: File | None = None,
    data_dir: File | None = None,
    runs: int = 30,
    allow_python: bool = False,
    config: EvalConfig | None = None,
    **settings: Any,
) -> Evaluation:
    """Measure the network of a run, or another one: accuracy on the test set, size and latency. Raises NasError.

    The source is as for `compress`, with a file of `weights` if it is not a run. Settings are those of `bayesnas-graph
    eval`, or `config`; a run provides the defaults. Latency is measured `runs` times. Without data, accuracy is not
    measured; without weights, random ones are used.
    """
    from bayesnas_graph.codegen.emit.memory import check_memory
    from bayesnas_graph.codegen.export.weights import weights_by_node
    from bayesnas_graph.runs.config.train import EvalConfig
    from bayesnas_graph.runs.device import prepare_device
    from bayesnas_graph.runs.loading import load_data
    from bayesnas_graph.train.evaluate import evaluate

    check_own(source, settings)
    path, allow_python = located(source, allow_python=allow_python)
    settings, config, given = take_data(settings, config)
    config, where = config or merged_settings(EvalConfig, None, settings), Path("data")
    run, tensors = run_at(path, allow_python=allow_python), None
    if run is not None:
        subject, tensors = run.result
        config, where = with_settings_of(run, config), Path(run.manifest.data_dir)
    else:
        subject, config = fixed_network(path, of_network(config, source), allow_python=allow_python)
        if weights is not None:
            tensors = weights_by_node(subject.network, Path(weights))
    check_memory(subject.network.graph())
    with prepare_device(config) as device:
        where = as_path(data_dir) or where
        data = None
        if config.data is not None:
            data = load_data(subject, config, config.seed, where, device.processes, given)
        return evaluate(subject, tensors, data, config, device, runs)
