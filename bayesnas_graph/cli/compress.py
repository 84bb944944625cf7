"""`compress`: a network made smaller, by removing what its weights and the data say is of no use."""

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
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.runs.config.compress import REMOVAL, CompressConfig
from bayesnas_graph.runs.settings import COMMAND_LINE, Settings, merged, read_settings


@settings_options(CompressConfig)
def compress(
    *,
    target: Annotated[
        Path | None, typer.Argument(metavar="[FILE|RUN]", help="Network without choices, or folder of a run.")
    ] = None,
    output: Output = None,
    resume: Resume = None,
    settings: list[Settings],
    data_dir: DataDir = None,
    weights: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Initial weights, as safetensors (default: random).")
    ] = None,
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYERS=PATTERNS",
            help="Groups of weights to remove together, by kind or name of layer: conv=shape,filter.",
            rich_help_panel=REMOVAL,
        ),
    ] = None,
    list_settings: ListSettings = False,
    display: Display = "auto",
    allow_python_ops: AllowPython = False,
) -> None:
    """Make a network smaller: groups of weights go, and with them the channels and layers that are then of no use."""
    from bayesnas_graph.cli import compressing
    from bayesnas_graph.cli.running import Show
    from bayesnas_graph.train.compress.source import recipe_for

    settings = [*settings, *map(_pattern, pattern or [])]
    show = Show(display)
    if resume is not None and (output is not None or weights is not None or list_settings):
        raise typer.BadParameter("goes on in its own folder under its own settings", param_hint="--resume")
    if resume is not None:
        compressing.go_on(resume, target, settings, data_dir, show, allow_python=allow_python_ops)
        return
    recipe = None if target is None else recipe_for(target)
    settings = [*([] if recipe is None else [read_settings(recipe)]), *settings]
    if list_settings:
        show_settings(merged(settings, CompressConfig))
        return
    if target is None:
        raise typer.BadParameter("name a file or a run, or a compression with `--resume`", param_hint="FILE")
    if recipe is not None:
        typer.echo(f"settings from {recipe.name}")
    compressing.begin(target, settings, weights, data_dir, output, show, allow_python=allow_python_ops)


def _pattern(text: str) -> Settings:
    """Return `conv=shape,filter` as a setting. Unlike keys, names of layers may contain dots."""
    layers, equals, patterns = (part.strip() for part in text.partition("="))
    if not equals or not layers or not patterns:
        raise typer.BadParameter(f"`{text}` is not of the form conv=shape,filter", param_hint="--pattern")
    return Settings(Source(COMMAND_LINE, f"--pattern {text}"), {"patterns": {layers: patterns}})
