"""`search`: which switches of a space stay on, for some data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.options import (
    DataDir,
    Display,
    ListSettings,
    Output,
    Resume,
    settings_options,
    show_settings,
)
from bayesnas_graph.cli.target import AllowPython
from bayesnas_graph.runs.config.groups import RUN
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.settings import Settings, configured, read_settings, recipe_of

_SWEEP = "Sweep"


@settings_options(SearchConfig)
def search(
    *,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="File or shipped space.")] = None,
    output: Output = None,
    resume: Resume = None,
    settings: list[Settings],
    data_dir: DataDir = None,
    list_settings: ListSettings = False,
    display: Display = "auto",
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write TensorBoard events.", rich_help_panel=RUN)
    ] = False,
    sweep: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=A,B,C", help="Search once with each of these values.", rich_help_panel=_SWEEP),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds, starting at `--seed`.", rich_help_panel=_SWEEP)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of searches at a time.", rich_help_panel=_SWEEP)
    ] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Run on a Ray cluster.", rich_help_panel=_SWEEP)] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Search a space: train all candidates together, and close the switches that the data do not call for."""
    from bayesnas_graph.cli import running
    from bayesnas_graph.cli import sweep as sweeps

    show = running.Show(display, tensorboard)
    grid = sweeps.Grid(tuple(sweep or ()), seeds, jobs, ray)
    sweeps.check_options(grid, resume)
    if resume is not None and (output is not None or list_settings):
        raise typer.BadParameter("goes on in its own folder under its own settings", param_hint="--resume")
    if resume is not None and sweeps.is_sweep(resume):
        sweeps.go_on(resume, file, settings, grid, data_dir, show, allow_python=allow_python_ops)
        return
    if resume is not None:
        running.go_on(resume, file, settings, data_dir, show, allow_python=allow_python_ops)
        return
    recipe = None if file is None else recipe_of(file)
    settings = [*([read_settings(recipe)] if recipe else []), *settings]
    config = configured(settings)
    if list_settings:
        show_settings(config)
        return
    if file is None:
        raise typer.BadParameter("name a space, or a run with `--resume`", param_hint="FILE")
    data_dir = data_dir or Path("data")
    if grid.wanted:
        sweeps.begin(file, settings, config, grid, data_dir, output, show, recipe, allow_python=allow_python_ops)
        return
    running.begin(file, config, data_dir, output, show, recipe, allow_python=allow_python_ops)
