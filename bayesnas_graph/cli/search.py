"""`search`: which switches of a space stay on, for some data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.console import show_table
from bayesnas_graph.cli.options import (
    RUN,
    Assignments,
    Batch,
    ChannelsLast,
    Compile,
    ConfigFile,
    DataDir,
    DataName,
    Deterministic,
    Device,
    Display,
    ListSettings,
    Output,
    Precision,
    Resume,
    Seed,
)
from bayesnas_graph.cli.target import AllowPython, NetworkName, Parameters

if TYPE_CHECKING:
    from bayesnas_graph.runs.settings import Settings

_SWEEP, _PRIOR = "Many runs", "Gates and their prior"


def search(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A file, or the name of a shipped space.")
    ] = None,
    data: DataName = None,
    data_dir: DataDir = None,
    network: NetworkName = None,
    parameters: Parameters = None,
    config: ConfigFile = None,
    setting: Assignments = None,
    settings: ListSettings = False,
    output: Output = None,
    resume: Resume = None,
    iterations: Annotated[int | None, typer.Option(help="Updates of the prior at most.", rich_help_panel=RUN)] = None,
    steps: Annotated[
        int | None, typer.Option(help="Steps of training between two updates.", rich_help_panel=RUN)
    ] = None,
    warmup: Annotated[int | None, typer.Option(help="Steps before the gates move.", rich_help_panel=RUN)] = None,
    batch: Batch = None,
    seed: Seed = None,
    display: Display = "auto",
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write events for TensorBoard, too.", rich_help_panel=RUN)
    ] = False,
    sweep: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=A,B,C", help="Search once with each of these values.", rich_help_panel=_SWEEP),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Search with so many seeds, from `--seed` on.", rich_help_panel=_SWEEP)
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Searches at a time.", rich_help_panel=_SWEEP)] = None,
    ray: Annotated[
        bool, typer.Option("--ray", help="Search on the machines of a Ray cluster.", rich_help_panel=_SWEEP)
    ] = False,
    strategy: Annotated[
        str | None,
        typer.Option(help="By which rule: bayes, darts, gdas, snas ...", rich_help_panel=_PRIOR),
    ] = None,
    intensity: Annotated[
        float | None,
        typer.Option("--lambda", help="Intensity of the penalty: more makes it smaller.", rich_help_panel=_PRIOR),
    ] = None,
    lambda_zero: Annotated[
        float | None, typer.Option(help="That on zero switches, if another.", rich_help_panel=_PRIOR)
    ] = None,
    target_params: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Weights to end with, such as 1.5M; lambda is found.", rich_help_panel=_PRIOR
        ),
    ] = None,
    target_flops: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Multiply-adds for a sample to end with.", rich_help_panel=_PRIOR),
    ] = None,
    curvature: Annotated[
        str | None,
        typer.Option(help="fisher, ggn, exact, empirical, recursive or mean.", rich_help_panel=_PRIOR),
    ] = None,
    dependency: Annotated[str | None, typer.Option(help="none, one_hop or whole_path.", rich_help_panel=_PRIOR)] = None,
    zero: Annotated[
        str | None, typer.Option(help="Zero switches: before or after the candidates.", rich_help_panel=_PRIOR)
    ] = None,
    gauge: Annotated[str | None, typer.Option(help="node or none.", rich_help_panel=_PRIOR)] = None,
    unit: Annotated[str | None, typer.Option(help="contribution, rms or gate.", rich_help_panel=_PRIOR)] = None,
    mode: Annotated[
        str | None, typer.Option(help="Who shares switches: written, proxy or proxyless.", rich_help_panel=_PRIOR)
    ] = None,
    device: Device = None,
    precision: Precision = None,
    channels_last: ChannelsLast = None,
    compile: Compile = None,
    deterministic: Deterministic = None,
    allow_python_ops: AllowPython = False,
) -> None:
    """Search a space: train all candidates together, and close the switches that the data do not call for."""
    from bayesnas_graph.cli import running
    from bayesnas_graph.cli import sweep as sweeps
    from bayesnas_graph.runs.settings import assigned, configured, option, read_settings, recipe_of

    given = {
        "--data": ("data", data),
        "--network": ("network", network),
        "--iterations": ("iterations", iterations),
        "--steps": ("steps", steps),
        "--warmup": ("warmup", warmup),
        "--batch": ("batch", batch),
        "--seed": ("seed", seed),
        "--strategy": ("strategy", strategy),
        "--lambda": ("lambda", intensity),
        "--lambda-zero": ("lambda_zero", lambda_zero),
        "--target-params": ("target_params", size("--target-params", target_params)),
        "--target-flops": ("target_flops", size("--target-flops", target_flops)),
        "--curvature": ("curvature", curvature),
        "--dependency": ("dependency", dependency),
        "--zero": ("zero", zero),
        "--gauge": ("gauge", gauge),
        "--unit": ("unit", unit),
        "--mode": ("mode", mode),
        "--device": ("device", device),
        "--precision": ("precision", precision),
        "--channels-last": ("channels_last", channels_last),
        "--compile": ("compile", compile),
        "--deterministic": ("deterministic", deterministic),
    }
    told: list[Settings] = [] if config is None else [read_settings(config)]
    told += [assigned(text) for text in setting or []]
    told += [assigned(f"parameters.{text}") for text in parameters or []]
    told += [option(flag, key, value) for flag, (key, value) in given.items() if value is not None]
    show = running.Show(display, tensorboard)
    grid = sweeps.Grid(tuple(sweep or ()), seeds, jobs, ray)
    sweeps.check_options(grid, resume)
    if resume is not None and (output is not None or settings):
        raise typer.BadParameter("goes on in its own folder under its own settings", param_hint="--resume")
    if resume is not None and sweeps.is_sweep(resume):
        sweeps.go_on(resume, file, told, grid, data_dir, show, allow_python=allow_python_ops)
        return
    if resume is not None:
        running.go_on(resume, file, told, data_dir, show, allow_python=allow_python_ops)
        return
    recipe = None if file is None else recipe_of(file)
    told = [*([read_settings(recipe)] if recipe else []), *told]
    chosen = configured(told)
    if settings:
        show_table([(key, str(value)) for key, value in chosen.to_plain().items()])
        return
    if file is None:
        raise typer.BadParameter("name a space, or a run with `--resume`", param_hint="FILE")
    data_dir = data_dir or Path("data")
    if grid.wanted:
        sweeps.begin(file, told, chosen, grid, data_dir, output, show, recipe, allow_python=allow_python_ops)
        return
    running.begin(file, chosen, data_dir, output, show, recipe, allow_python=allow_python_ops)


def size(flag: str, text: str | None) -> int | None:
    """A number such as `20K`, `3.5M` or `600000`, as budgets in the language have them.

    >>> size("--target-params", "3.5M"), size("--target-params", "20_000")
    (3500000, 20000)
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d[\d_]*(?:\.\d+)?)([KMG]?)", text)
    if not found:
        raise typer.BadParameter(f"`{text}` is no size such as 20K or 3.5M", param_hint=flag)
    return round(float(found[1].replace("_", "")) * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}[found[2]])
