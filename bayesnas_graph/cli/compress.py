"""`compress`: a network made smaller by removing what it does not need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph import api
from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.options import option_group, settings_options
from bayesnas_graph.cli.run_options import RunOptions, exit_when_interrupted
from bayesnas_graph.cli.terminal import loading
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.runs.config.compress import REMOVAL, CompressConfig
from bayesnas_graph.runs.settings import COMMAND_LINE, Settings, read_settings


@settings_options(CompressConfig)
@option_group("options", RunOptions)
def compress(
    *,
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE|RUN", help="Network without choices, or folder of a run.", autocompletion=suggestions.spaces
        ),
    ] = None,
    settings: list[Settings],
    weights: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Initial weights, as safetensors (default: random).")
    ] = None,
    options: RunOptions,
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYERS=PATTERNS",
            help="Groups of weights to remove together, by kind or name of layer: conv=shape,filter.",
            rich_help_panel=REMOVAL,
        ),
    ] = None,
) -> None:
    """Make a network smaller: remove groups of weights, and the channels and layers left without a use."""
    with loading():
        from bayesnas_graph.cli.display.compress_view import CompressView
        from bayesnas_graph.train.compress.source import recipe_for

    options.check(new_only=weights is not None)
    settings = [*settings, *map(_pattern, pattern or [])]
    recipe = None if target is None or options.resume is not None else recipe_for(target)
    settings = [*([] if recipe is None else [read_settings(recipe)]), *settings]
    config = options.config("compress", CompressConfig, target if options.resume is None else None, settings)
    if options.resume is not None and target is not None:
        help = "omit the network: the run has its own copy"
        raise NasError([Diagnostic("NAS601", f"`--resume` takes no network, but got `{target}`", help=help)])
    if recipe is not None:
        typer.echo(f"settings from {recipe.name}")
    with exit_when_interrupted():
        api.compress(
            target,
            output=options.output,
            resume=options.resume,
            data_dir=options.data_dir,
            weights=weights,
            allow_python=options.allow_python,
            watch=(CompressView(live=options.live),),
            config=config,
        )


def _pattern(text: str) -> Settings:
    """Return `conv=shape,filter` as a setting. Unlike keys, names of layers may contain dots."""
    layers, equals, patterns = (part.strip() for part in text.partition("="))
    if not equals or not layers or not patterns:
        raise typer.BadParameter(f"`{text}` is not of the form conv=shape,filter", param_hint="--pattern")
    return Settings(
        Source(COMMAND_LINE, f"--pattern {text}"),
        {"patterns": {layers: patterns}},
        origin="command line",
        flag="--pattern",
    )
