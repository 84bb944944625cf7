"""A sweep of `search`: a grid of searches, several at a time, and a table of their results."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import show_diagnostics
from bayesnas_graph.cli.display.sweep_view import sweep_view
from bayesnas_graph.cli.rich_output import show_table
from bayesnas_graph.cli.run_options import RunOptions
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs import signals
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.folder import new_folder, now, versions
from bayesnas_graph.runs.settings import Settings
from bayesnas_graph.runs.subject import load_subject
from bayesnas_graph.runs.sweep.cluster import RayPool, connect, installed
from bayesnas_graph.runs.sweep.comparison import summary
from bayesnas_graph.runs.sweep.folder import Asked, SweepFolder
from bayesnas_graph.runs.sweep.grid import axis, points
from bayesnas_graph.runs.sweep.pool import LocalPool, Pool, devices, slots, usable_cores
from bayesnas_graph.runs.sweep.schedule import Sweep

_PANEL = "Sweep"


@dataclass(frozen=True)
class SweepOptions:
    """Options of `search` that make it a sweep."""

    sweep: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=A,B,C", help="Search once with each of these values.", rich_help_panel=_PANEL),
    ] = None
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of seeds, starting at `--seed`.", rich_help_panel=_PANEL),
    ] = None
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of searches at a time.", rich_help_panel=_PANEL)
    ] = None
    ray: Annotated[bool, typer.Option("--ray", help="Run on a Ray cluster.", rich_help_panel=_PANEL)] = False

    @property
    def wanted(self) -> bool:
        """Whether a new sweep was requested."""
        return bool(self.sweep) or self.seeds is not None

    def check(self, resumed: Path | None) -> None:
        """Raise BadParameter for options that need a sweep, or a new one. Raises NasError if Ray is not installed."""
        if self.ray:
            installed()
        if self.wanted and resumed is not None:
            flag = "--sweep" if self.sweep else "--seeds"
            raise typer.BadParameter("a resumed sweep keeps its grid", param_hint=flag)
        if self.wanted or (resumed is not None and is_sweep(resumed)):
            return
        for flag, given in (("--jobs", self.jobs is not None), ("--ray", self.ray)):
            if given:
                raise typer.BadParameter("use it with `--sweep` or `--seeds`", param_hint=flag)


def is_sweep(path: Path) -> bool:
    """Whether a folder belongs to a sweep rather than a run."""
    return (path / "sweep.json").exists()


def start_sweep(
    file: Path,
    settings: Sequence[Settings],
    config: SearchConfig,
    sweep: SweepOptions,
    options: RunOptions,
    recipe: Path | None,
    passed_on: tuple[str, ...],
) -> None:
    """Start a sweep in a new folder. Settings of all runs are checked first; `passed_on` are options of every run."""
    if "RANK" in os.environ:
        help = "start it without `torchrun`: each of its runs is one process"
        raise NasError([Diagnostic("NAS601", "a sweep cannot be started by `torchrun`", help=help)])
    grid = points(settings, [axis(text) for text in sweep.sweep or ()], sweep.seeds or 1)
    if any(point.config.data is None for point in grid):
        help = "name a data set, such as `--data digits`; `bayesnas-graph data list` lists them"
        raise NasError([Diagnostic("NAS601", "no data to search on", help=help)])
    networks = {(point.config.network, str(point.config.parameters)): point.config for point in grid}
    subjects = [load_subject(file, one, allow_python=options.allow_python_ops) for one in networks.values()]
    for subject in subjects:
        show_diagnostics(subject.warnings)
    folder = SweepFolder(new_folder(options.output, f"{file.stem}-sweep").path)
    with folder.own.locked():
        asked = Asked(
            space=str(file),
            file=subjects[0].copy_files(folder.own),
            python_ops=options.allow_python_ops,
            data_dir=str((options.data_dir or Path("data")).absolute()),
            settings=config.model_dump(mode="json", by_alias=True, exclude_unset=True),
            sweep=sweep.sweep or [],
            seeds=sweep.seeds or 1,
            begun=now(),
            versions=versions(),
        )
        folder.own.write_json(folder.asked_file, asked.model_dump())
        if recipe is not None:
            typer.echo(f"settings from {recipe.name}")
        _run(Sweep(folder, asked, grid, options=passed_on), sweep, live=options.live)


def resume_sweep(
    path: Path,
    file: Path | None,
    settings: Sequence[Settings],
    sweep: SweepOptions,
    options: RunOptions,
    passed_on: tuple[str, ...],
) -> None:
    """Run the searches of a sweep that are not done."""
    folder = SweepFolder(path)
    asked = folder.asked()
    if settings or file is not None:
        given = [*([str(file)] if file else []), *(one.source.text for one in settings)]
        message = f"`--resume` takes no space and no settings, but got {', '.join(f'`{text}`' for text in given)}"
        help = "a sweep keeps the space and settings it was started with; start another one to change them"
        raise NasError([Diagnostic("NAS601", message, help=help)])
    if asked.python_ops and not options.allow_python_ops:
        help = "add `--allow-python-ops`"
        raise NasError([Diagnostic("NAS105", "the sweep uses Python operations", help=help)])
    with folder.own.locked():
        _run(Sweep(folder, asked, asked.points(), options.data_dir, passed_on), sweep, live=options.live)


def _run(sweep: Sweep, options: SweepOptions, *, live: bool) -> None:
    """Run what is left, show the table, and exit."""
    path = sweep.folder.path
    typer.echo(f"sweep {path}: {len(sweep.left)} of {len(sweep.runs)} runs to do")
    finished = False
    try:
        with _pool(sweep, options) as (pool, threads), stopping() as stop, sweep_view(sweep.folder, live=live) as view:
            finished = sweep.run(pool, threads, stop, view)
    except KeyboardInterrupt:  # the second one, which ended the runs at once
        pass
    _show_summary(sweep)
    if not sweep.left:
        return
    failed = f"{len(sweep.left)} of {len(sweep.runs)} failed; retry them with"
    typer.echo(failed if finished else "stopped; resume with")
    typer.echo(f"  bayesnas-graph search --resume {path}")
    raise typer.Exit(1 if finished else 130)


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Stop a sweep as a search is stopped, and when its terminal is closed, which its runs do not notice."""
    with signals.stopping() as stop:
        before = signal.getsignal(signal.SIGHUP)
        if before is signal.SIG_DFL:  # unless started with `nohup`
            signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
        try:
            yield stop
        finally:
            signal.signal(signal.SIGHUP, before)


@contextmanager
def _pool(sweep: Sweep, options: SweepOptions) -> Iterator[tuple[Pool, int]]:
    """Yield a pool for the runs, and the number of threads of each. Ends all processes on exit."""
    configs = [point.config for point in sweep.left]
    kinds = {config.device for config in configs}
    pool: Pool
    if options.ray:
        ray = installed()
        connect(ray)
        pool, threads = RayPool(ray, options.jobs, gpus=kinds != {"cpu"}), 1
    else:
        most = max((config.threads for config in configs), default=0)
        local = slots(options.jobs, most, devices(kinds), usable_cores())
        pool, threads = LocalPool(local.environments), local.threads
    try:
        yield pool, threads
    finally:
        pool.kill()


def _show_summary(sweep: Sweep) -> None:
    if sweep.over:
        typer.echo()
        show_table([cell.replace(" (", "\n(") for cell in row] for row in summary(sweep.runs))
        typer.echo()
    for run in sweep.runs:
        if run.state == "failed":
            typer.echo(f"failed: {run.point.shown}: {run.error}")
    for path in (sweep.folder.table, sweep.folder.summary):
        typer.echo(f"wrote {path}")
