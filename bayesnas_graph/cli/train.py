"""`train`: training of a network without choices, from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph import api
from bayesnas_graph.cli.options import option_group, settings_options
from bayesnas_graph.cli.run_options import RunOptions, exit_when_interrupted
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.settings import Settings


@settings_options(TrainConfig)
@option_group("options", RunOptions)
def train(
    *,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE|RUN", help="File, shipped space, or folder of a search.")
    ] = None,
    settings: list[Settings],
    options: RunOptions,
) -> None:
    """Train a network without choices from scratch, with the usual recipe for comparing architectures."""
    options.check()
    config = options.config("train", TrainConfig, file, settings)
    from bayesnas_graph.cli.display.train_view import TrainView  # loads torch

    with exit_when_interrupted():
        api.train(
            None if config is None else file,
            output=options.output,
            resume=options.resume,
            data_dir=options.data_dir,
            allow_python=options.allow_python,
            watch=(TrainView(live=options.live),),
            config=config,
        )
