"""Creating, resuming and finishing sweeps. Every run of a sweep is a `search` in its own process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.elaborate import Text
from bayesnas_graph.runs.consent import check_consent
from bayesnas_graph.runs.folder import new_folder, now, versions
from bayesnas_graph.runs.settings import Settings, configured
from bayesnas_graph.runs.signals import stopping
from bayesnas_graph.runs.subject import load_subject
from bayesnas_graph.runs.sweep.cluster import RayPool, connect, installed
from bayesnas_graph.runs.sweep.folder import SweepFolder, SweepRequest
from bayesnas_graph.runs.sweep.grid import axis, points
from bayesnas_graph.runs.sweep.pool import LocalPool, RunPool, devices, slots, usable_cores
from bayesnas_graph.runs.sweep.schedule import Sweep, SweepWatcher


@contextmanager
def create_sweep(
    file: Path | Text,
    settings: Sequence[Settings],
    axes: Sequence[str],
    seeds: int = 1,
    *,
    data_dir: Path | None = None,
    output: Path | None = None,
    options: tuple[str, ...] = (),
    allow_python: bool = False,
) -> Iterator[Sweep]:
    """Create a sweep in a new folder, after checking the settings of all runs. Raises NasError.

    Axes are texts such as `lambda=0.1,0.3`; `options` are passed to every run.
    """
    if "RANK" in os.environ:
        help = "start it without `torchrun`: each of its runs is one process"
        raise NasError([Diagnostic("NAS601", "a sweep cannot be started by `torchrun`", help=help)])
    grid = points(settings, [axis(text) for text in axes], seeds, allow_python=allow_python)
    if any(point.config.data is None for point in grid):
        help = "name a data set, such as `--data digits`; `bayesnas-graph data list` lists them"
        raise NasError([Diagnostic("NAS601", "no data to search on", help=help)])
    networks = {(point.config.network, str(point.config.parameters)): point.config for point in grid}
    subjects = [load_subject(file, config, allow_python=allow_python) for config in networks.values()]
    folder = SweepFolder(new_folder(output, f"{file.stem}-sweep").path)
    shared = configured(settings, allow_python=allow_python)
    with folder.own.locked():
        files = subjects[0].copy_files(folder.own)
        request = SweepRequest(
            space=str(file),
            file=next(iter(files)),
            files=files,
            python_ops=allow_python,
            data_dir=str((data_dir or Path("data")).absolute()),
            settings=shared.model_dump(mode="json", by_alias=True, exclude_unset=True),
            sweep=list(axes),
            seeds=seeds,
            begun=now(),
            versions=versions(),
        )
        folder.own.write_json(folder.request_file, request.model_dump())
        warnings = tuple(warning for subject in subjects for warning in subject.warnings)
        yield Sweep(folder, request, grid, options=options, warnings=warnings)


@contextmanager
def resume_sweep(
    path: Path, *, data_dir: Path | None = None, options: tuple[str, ...] = (), allow_python: bool = False
) -> Iterator[Sweep]:
    """Open a sweep to run its unfinished searches. Raises NasError."""
    folder = SweepFolder(path)
    request = folder.request()
    if request.python_ops and not allow_python:
        help = "add `--allow-python`"
        raise NasError([Diagnostic("NAS105", "the sweep uses Python operations", help=help)])
    points = request.points()
    for point in points:
        check_consent(dict(point.config), folder.request_file, allow_python=allow_python)
    folder.own.check_space(request.files, folder.request_file)
    with folder.own.locked():
        yield Sweep(folder, request, points, data_dir, options)


def run_to_end(sweep: Sweep, watcher: SweepWatcher, jobs: int | None = None, *, ray: bool = False) -> bool:
    """Run the remaining searches in parallel; return False if interrupted. Raises NasError or KeyboardInterrupt."""
    with _pool(sweep, jobs, ray=ray) as (pool, threads), stopping() as stop:
        return sweep.run(pool, threads, stop, watcher)


@contextmanager
def _pool(sweep: Sweep, jobs: int | None, *, ray: bool) -> Iterator[tuple[RunPool, int]]:
    """Yield a pool for the runs, and the number of threads of each. Ends all processes on exit."""
    configs = [point.config for point in sweep.left]
    kinds = {config.device for config in configs}
    pool: RunPool
    if ray:
        cluster = installed()
        connect(cluster)
        pool, threads = RayPool(cluster, jobs, gpus=kinds != {"cpu"}), 1
    else:
        most = max((config.threads for config in configs), default=0)
        local = slots(jobs, most, devices(kinds), usable_cores())
        pool, threads = LocalPool(local.environments), local.threads
    try:
        yield pool, threads
    finally:
        pool.kill()
