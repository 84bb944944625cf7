"""`compress`: a network made smaller, by removing what its weights and the data say is of no use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.console import show_table
from bayesnas_graph.cli.options import (
    RUN,
    Assignments,
    ConfigFile,
    DataDir,
    Device,
    Display,
    ListSettings,
    Output,
    Precision,
    Resume,
    Seed,
)
from bayesnas_graph.cli.search import size
from bayesnas_graph.cli.target import AllowPython, NetworkName, Parameters

if TYPE_CHECKING:
    from bayesnas_graph.runs.settings import Settings

_WHAT = "What goes"


def compress(
    target: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE|RUN]", help="A network without choices, or the folder of a run."),
    ] = None,
    data: Annotated[str | None, typer.Option(help="The data; those of the run if left out.")] = None,
    data_dir: DataDir = None,
    weights: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Weights to begin with, as safetensors; random if left out.")
    ] = None,
    network: NetworkName = None,
    parameters: Parameters = None,
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYERS=PATTERNS",
            help="Which weights go together: conv=shape,filter or linear=row,column, or for the name of a layer.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    intensity: Annotated[
        float | None, typer.Option("--lambda", help="Intensity of the penalty.", rich_help_panel=_WHAT)
    ] = None,
    target_operations: Annotated[
        str | None, typer.Option(metavar="N", help="Additions and multiplications to stop at.", rich_help_panel=_WHAT)
    ] = None,
    target_params: Annotated[
        str | None, typer.Option(metavar="N", help="Weights to stop at.", rich_help_panel=_WHAT)
    ] = None,
    rival: Annotated[
        bool | None,
        typer.Option("--rival", help="Remove as much by magnitude, too, to compare.", rich_help_panel=_WHAT),
    ] = None,
    config: ConfigFile = None,
    setting: Assignments = None,
    settings: ListSettings = False,
    output: Output = None,
    resume: Resume = None,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs of training before anything goes.", rich_help_panel=RUN)
    ] = None,
    loops: Annotated[int | None, typer.Option(help="Rounds of removals at most.", rich_help_panel=RUN)] = None,
    fine_epochs: Annotated[
        int | None, typer.Option(help="Epochs of training for what is left.", rich_help_panel=RUN)
    ] = None,
    seed: Seed = None,
    display: Display = "auto",
    device: Device = None,
    precision: Precision = None,
    allow_python_ops: AllowPython = False,
) -> None:
    """Make a network smaller: groups of weights go, and with them the channels and layers that are then of no use."""
    from bayesnas_graph.cli import compressing
    from bayesnas_graph.cli.running import Show
    from bayesnas_graph.runs.settings import assigned, merged, option, read_settings
    from bayesnas_graph.train.compress.config import CompressConfig
    from bayesnas_graph.train.compress.source import recipe_for

    given = {
        "--data": ("data", data),
        "--network": ("network", network),
        "--lambda": ("lambda", intensity),
        "--target-operations": ("target_operations", size("--target-operations", target_operations)),
        "--target-params": ("target_params", size("--target-params", target_params)),
        "--rival": ("rival", rival),
        "--epochs": ("epochs", epochs),
        "--loops": ("loops", loops),
        "--fine-epochs": ("fine_epochs", fine_epochs),
        "--seed": ("seed", seed),
        "--device": ("device", device),
        "--precision": ("precision", precision),
    }
    told: list[Settings] = [] if config is None else [read_settings(config)]
    told += [assigned(text) for text in setting or []]
    told += [assigned(f"parameters.{text}") for text in parameters or []]
    told += [_pattern(text) for text in pattern or []]
    told += [option(flag, key, value) for flag, (key, value) in given.items() if value is not None]
    show = Show(display)
    if resume is not None and (output is not None or weights is not None or settings):
        raise typer.BadParameter("goes on in its own folder under its own settings", param_hint="--resume")
    if resume is not None:
        compressing.go_on(resume, target, told, data_dir, show, allow_python=allow_python_ops)
        return
    recipe = None if target is None else recipe_for(target)
    told = [*([] if recipe is None else [read_settings(recipe)]), *told]
    if settings:
        chosen = merged(told, CompressConfig)
        show_table([(key, str(value)) for key, value in chosen.to_plain().items()])
        return
    if target is None:
        raise typer.BadParameter("name a file or a run, or a compression with `--resume`", param_hint="FILE")
    if recipe is not None:
        typer.echo(f"settings from {recipe.name}")
    compressing.begin(target, told, weights, data_dir, output, show, allow_python=allow_python_ops)


def _pattern(text: str) -> Settings:
    """`conv=shape,filter` as a setting. Names of layers may have dots, which keys have not."""
    from bayesnas_graph.diagnostics.source import Source
    from bayesnas_graph.runs.settings import COMMAND_LINE, Settings

    layers, equals, patterns = (part.strip() for part in text.partition("="))
    if not equals or not layers or not patterns:
        raise typer.BadParameter(f"`{text}` is not of the form conv=shape,filter", param_hint="--pattern")
    return Settings(Source(COMMAND_LINE, f"--pattern {text}"), {"patterns": {layers: patterns}})
