"""A sweep of `search`: a grid of searches, several at a time, and a table of their results."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import hint, resume_command, say, show_diagnostics, written
from bayesnas_graph.cli.display.sweep_view import sweep_view
from bayesnas_graph.cli.rich_output import table_lines
from bayesnas_graph.cli.run_options import RunOptions
from bayesnas_graph.cli.terminal import red
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.consent import settings_name_code
from bayesnas_graph.runs.reading.sweep import is_sweep
from bayesnas_graph.runs.recipes import Recipe
from bayesnas_graph.runs.settings import Settings
from bayesnas_graph.runs.sweep.cluster import installed
from bayesnas_graph.runs.sweep.comparison import summary
from bayesnas_graph.runs.sweep.folder import SweepFolder
from bayesnas_graph.runs.sweep.schedule import Sweep
from bayesnas_graph.runs.sweep.task import create_sweep, resume_sweep, run_to_end

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
        int | None,
        typer.Option(min=1, max=1024, metavar="N", help="Number of searches at a time.", rich_help_panel=_PANEL),
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
        for flag, is_given in (("--jobs", self.jobs is not None), ("--ray", self.ray)):
            if is_given:
                raise typer.BadParameter("use it with `--sweep` or `--seeds`", param_hint=flag)


def start_sweep(
    file: Path,
    settings: Sequence[Settings],
    sweep: SweepOptions,
    options: RunOptions,
    recipe: Recipe | None,
    passed_on: tuple[str, ...],
) -> None:
    """Start a sweep in a new folder; `passed_on` are options of every run."""
    with create_sweep(
        file,
        settings,
        sweep.sweep or (),
        sweep.seeds or 1,
        data_dir=options.data_dir,
        output=options.output,
        options=passed_on,
        allow_python=options.allow_python,
    ) as created:
        show_diagnostics(created.warnings)
        if recipe is not None:
            typer.echo(f"settings from {recipe}")
        _run(created, sweep, options, passed_on)


def continue_sweep(
    path: Path,
    file: Path | None,
    settings: Sequence[Settings],
    sweep: SweepOptions,
    options: RunOptions,
    passed_on: tuple[str, ...],
) -> None:
    """Run the searches of a sweep that are not done."""
    SweepFolder(path).request()  # a damaged sweep is reported first
    if settings or file is not None:
        texts = [*([str(file)] if file else []), *(one.source.text for one in settings)]
        message = f"`--resume` takes no space and no settings, but got {', '.join(f'`{text}`' for text in texts)}"
        help = "a sweep keeps the space and settings it was started with; start another one to change them"
        raise NasError([Diagnostic("NAS601", message, help=help)])
    allow = options.allow_python
    with resume_sweep(path, data_dir=options.data_dir, options=passed_on, allow_python=allow) as resumed:
        _run(resumed, sweep, options, passed_on)


def _run(sweep: Sweep, options: SweepOptions, shared: RunOptions, passed_on: tuple[str, ...]) -> None:
    """Run the remaining searches, show the table, and exit."""
    path = sweep.folder.path
    say(f"sweep {path}: {len(sweep.left)} of {len(sweep.runs)} runs to do")
    finished = False
    try:
        with sweep_view(sweep.folder, live=shared.live) as view:
            finished = run_to_end(sweep, view, options.jobs, ray=options.ray)
    except KeyboardInterrupt:  # the second Ctrl-C, which ended the runs at once
        pass
    _show_summary(sweep)
    if not sweep.left:
        return
    failed = f"{len(sweep.left)} of {len(sweep.runs)} failed; retry them"
    needs_python = sweep.request.python_ops or any(settings_name_code(dict(point.config)) for point in sweep.left)
    again = [*_resume_options(sweep, options, shared), *passed_on]
    address = os.environ.get("RAY_ADDRESS") if options.ray else None
    where = f"RAY_ADDRESS={shlex.quote(address)} " if address else ""
    command = resume_command("search", path, again, allow_python=needs_python)
    hint(failed if finished else "stopped; resume", f"{where}{command}")
    raise typer.Exit(1 if finished else 130)


def _resume_options(sweep: Sweep, options: SweepOptions, shared: RunOptions) -> Iterator[str]:
    """The options of the command that a resumed sweep needs too. The folder has the others."""
    if options.ray:
        yield "--ray"
    if options.jobs is not None:
        yield from ("--jobs", str(options.jobs))
    if sweep.data_dir is not None:  # it has moved
        yield from ("--data-dir", str(sweep.data_dir))
    if shared.display != "auto":
        yield from ("--display", shared.display)


def _show_summary(sweep: Sweep) -> None:
    if sweep.over:
        say("")
        for line in table_lines([cell.replace(" (", "\n(") for cell in row] for row in summary(sweep.runs)):
            say(line)
        say("")
    for run in sweep.runs:
        if run.state == "failed":
            say(f"{red('failed')}: {run.point.shown}: {run.error}", 2)
    for line in written((sweep.folder.table, sweep.folder.summary)):
        say(line, 2)
