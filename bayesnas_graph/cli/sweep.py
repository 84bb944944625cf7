"""A sweep on the command line: a grid of searches, some at a time, and a table of what they found."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayesnas_graph.cli import running
from bayesnas_graph.cli.console import show_diagnostics
from bayesnas_graph.cli.sweep_view import viewing
from bayesnas_graph.cli.table import show_table
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.runs.config.search import SearchConfig
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.runs.sweep.pool import Pool
    from bayesnas_graph.runs.sweep.schedule import Sweep


@dataclass(frozen=True)
class Grid:
    """What the command line says about a sweep."""

    sweep: tuple[str, ...] = ()  # `key=a,b,c`
    seeds: int | None = None
    jobs: int | None = None
    ray: bool = False

    @property
    def wanted(self) -> bool:
        """Whether there is to be one."""
        return bool(self.sweep) or self.seeds is not None


def is_sweep(path: Path) -> bool:
    """Whether a folder is that of a sweep, and not of a run."""
    return (path / "sweep.json").exists()


def check_options(grid: Grid, resumed: Path | None) -> None:
    """Raises BadParameter for options that go with a sweep, or with a new one, where there is none.

    Raises NasError for `--ray` where there is no Ray: better than when the folder is made.
    """
    from bayesnas_graph.runs.sweep.cluster import installed

    if grid.ray:
        installed()
    if grid.wanted and resumed is not None:
        flag = "--sweep" if grid.sweep else "--seeds"
        raise typer.BadParameter("a sweep goes on with the grid that it began with", param_hint=flag)
    if grid.wanted or (resumed is not None and is_sweep(resumed)):
        return
    for flag, given in (("--jobs", grid.jobs is not None), ("--ray", grid.ray)):
        if given:
            raise typer.BadParameter("it is for sweeps: say `--sweep` or `--seeds`, too", param_hint=flag)


def begin(
    file: Path,
    told: Sequence[Settings],
    config: SearchConfig,
    grid: Grid,
    data_dir: Path,
    output: Path | None,
    show: running.Show,
    recipe: Path | None,
    *,
    allow_python: bool,
) -> None:
    """Begin a sweep in a new folder. What is wrong with its settings or its space is told before a run begins."""
    from bayesnas_graph.runs.folder import new_folder, now, versions
    from bayesnas_graph.runs.subject import load_subject
    from bayesnas_graph.runs.sweep.folder import Asked, SweepFolder
    from bayesnas_graph.runs.sweep.grid import axis, points
    from bayesnas_graph.runs.sweep.schedule import Sweep

    if "RANK" in os.environ:
        help = "start it by itself: each of its runs is one process"
        raise NasError([Diagnostic("NAS601", "a sweep cannot be started by `torchrun`", help=help)])
    found = points(told, [axis(text) for text in grid.sweep], grid.seeds or 1)
    if any(point.config.data is None for point in found):
        help = "`--data digits`, for instance; `bayesnas-graph data list` shows what there is"
        raise NasError([Diagnostic("NAS601", "there are no data to search on", help=help)])
    networks = {(point.config.network, str(point.config.parameters)): point.config for point in found}
    subjects = [load_subject(file, one, allow_python=allow_python) for one in networks.values()]
    for subject in subjects:
        show_diagnostics(subject.warnings)
    folder = SweepFolder(new_folder(output, f"{file.stem}-sweep").path)
    with folder.own.locked():
        asked = Asked(
            space=str(file),
            file=subjects[0].copy_files(folder.own),
            python_ops=allow_python,
            data_dir=str(data_dir.absolute()),
            settings=config.model_dump(mode="json", by_alias=True, exclude_unset=True),
            sweep=list(grid.sweep),
            seeds=grid.seeds or 1,
            begun=now(),
            versions=versions(),
        )
        folder.own.write_json(folder.asked_file, asked.model_dump())
        if recipe is not None:
            typer.echo(f"settings from {recipe.name}")
        _run(Sweep(folder, asked, found, options=_passed_on(show)), grid, show)


def go_on(
    path: Path,
    file: Path | None,
    told: Sequence[Settings],
    grid: Grid,
    data_dir: Path | None,
    show: running.Show,
    *,
    allow_python: bool,
) -> None:
    """Go on with the points of a sweep that are not done."""
    from bayesnas_graph.runs.sweep.folder import SweepFolder
    from bayesnas_graph.runs.sweep.schedule import Sweep

    folder = SweepFolder(path)
    asked = folder.asked()
    if told or file is not None:
        given = [*([str(file)] if file else []), *(settings.source.text for settings in told)]
        message = f"`--resume` takes no space and no settings, and there is {', '.join(f'`{text}`' for text in given)}"
        help = "a sweep goes on as it began; begin another one for others"
        raise NasError([Diagnostic("NAS601", message, help=help)])
    if asked.python_ops and not allow_python:
        help = "say `--allow-python-ops` again"
        raise NasError([Diagnostic("NAS105", "the sweep uses operations written in Python", help=help)])
    with folder.own.locked():
        _run(Sweep(folder, asked, asked.points(), data_dir, _passed_on(show)), grid, show)


def _passed_on(show: running.Show) -> tuple[str, ...]:
    """Options of the sweep that are options of every run."""
    return ("--tensorboard",) if show.tensorboard else ()


def _run(sweep: Sweep, grid: Grid, show: running.Show) -> None:
    """Run what is left, show the table, and leave with an exit code."""
    path = sweep.folder.path
    typer.echo(f"sweep {path}: {len(sweep.left)} of {len(sweep.runs)} runs to do")
    finished = False
    try:
        with _pool(sweep, grid) as (pool, threads), stopping() as stop, viewing(sweep.folder, live=show.live) as view:
            finished = sweep.run(pool, threads, stop, view)
    except KeyboardInterrupt:  # the second one; the runs were ended at once
        pass
    _sum_up(sweep)
    if not sweep.left:
        return
    typer.echo(
        f"{len(sweep.left)} of {len(sweep.runs)} failed; to try these again:" if finished else "stopped; go on with"
    )
    typer.echo(f"  bayesnas-graph search --resume {path}")
    raise typer.Exit(1 if finished else 130)


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """A sweep is stopped as a search is, and when its terminal goes away, which its runs do not notice."""
    from bayesnas_graph.runs import signals

    with signals.stopping() as stop:
        before = signal.getsignal(signal.SIGHUP)
        if before is signal.SIG_DFL:  # `nohup` wants it to go on
            signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
        try:
            yield stop
        finally:
            signal.signal(signal.SIGHUP, before)


@contextmanager
def _pool(sweep: Sweep, grid: Grid) -> Iterator[tuple[Pool, int]]:
    """Where the runs go, with how many threads each. None of them is left behind."""
    from bayesnas_graph.runs.sweep.cluster import RayPool, connect, installed
    from bayesnas_graph.runs.sweep.pool import LocalPool, devices, slots, usable_cores

    configs = [point.config for point in sweep.left]
    wanted = {config.device for config in configs}
    pool: Pool
    if grid.ray:
        ray = installed()
        connect(ray)
        pool, threads = RayPool(ray, grid.jobs, gpus=wanted != {"cpu"}), 1
    else:
        most = max((config.threads for config in configs), default=0)
        found = slots(grid.jobs, most, devices(wanted), usable_cores())
        pool, threads = LocalPool(found.environments), found.threads
    try:
        yield pool, threads
    finally:
        pool.kill()


def _sum_up(sweep: Sweep) -> None:
    """The table, and what did not come out."""
    from bayesnas_graph.runs.sweep.comparison import summary

    if sweep.over:
        typer.echo()
        show_table([cell.replace(" (", "\n(") for cell in row] for row in summary(sweep.runs))
        typer.echo()
    for run in sweep.runs:
        if run.state == "failed":
            typer.echo(f"failed: {run.point.shown}: {run.error}")
    for path in (sweep.folder.table, sweep.folder.summary):
        typer.echo(f"wrote {path}")
