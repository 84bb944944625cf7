"""`train`: the weights of a network without choices, from scratch."""

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
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.settings import Settings, merged


@settings_options(TrainConfig)
def train(
    *,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE|RUN]", help="File, shipped space, or folder of a search.")
    ] = None,
    output: Output = None,
    resume: Resume = None,
    settings: list[Settings],
    data_dir: DataDir = None,
    list_settings: ListSettings = False,
    display: Display = "auto",
    allow_python_ops: AllowPython = False,
) -> None:
    """Train a network without choices from scratch, by the recipe that architectures are compared with."""
    from bayesnas_graph.cli import training
    from bayesnas_graph.cli.running import Show

    show = Show(display)
    if resume is not None and (output is not None or list_settings):
        raise typer.BadParameter("goes on in its own folder under its own settings", param_hint="--resume")
    if resume is not None:
        training.go_on(resume, file, settings, data_dir, show, allow_python=allow_python_ops)
        return
    config = merged(settings, TrainConfig)
    if list_settings:
        show_settings(config)
        return
    if file is None:
        raise typer.BadParameter("name a file, or a run with `--resume`", param_hint="FILE")
    training.begin(file, config, data_dir or Path("data"), output, show, allow_python=allow_python_ops)
