"""`train`: the weights of a network without choices, from scratch."""

from __future__ import annotations

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


def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE|RUN]", help="A file, a shipped space, or the folder of a search."),
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
    epochs: Annotated[int | None, typer.Option(help="How often every sample is seen.", rich_help_panel=RUN)] = None,
    batch: Batch = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate in the beginning.", rich_help_panel=RUN)] = None,
    drop_path: Annotated[
        float | None, typer.Option(help="Chance that a path is dropped, in the end.", rich_help_panel=RUN)
    ] = None,
    auxiliary: Annotated[
        float | None, typer.Option(help="Weight of the loss of an auxiliary head.", rich_help_panel=RUN)
    ] = None,
    seed: Seed = None,
    display: Display = "auto",
    device: Device = None,
    precision: Precision = None,
    channels_last: ChannelsLast = None,
    compile: Compile = None,
    deterministic: Deterministic = None,
    allow_python_ops: AllowPython = False,
) -> None:
    """Train a network without choices from scratch, by the recipe that architectures are compared with."""
    from bayesnas_graph.cli import training
    from bayesnas_graph.cli.running import Show
    from bayesnas_graph.runs.settings import assigned, merged, option, read_settings
    from bayesnas_graph.train.config import TrainConfig

    given = {
        "--data": ("data", data),
        "--network": ("network", network),
        "--epochs": ("epochs", epochs),
        "--batch": ("batch", batch),
        "--rate": ("rate", rate),
        "--drop-path": ("drop_path", drop_path),
        "--auxiliary": ("auxiliary", auxiliary),
        "--seed": ("seed", seed),
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
    show = Show(display)
    if resume is not None and (output is not None or settings):
        raise typer.BadParameter("goes on in its own folder under its own settings", param_hint="--resume")
    if resume is not None:
        training.go_on(resume, file, told, data_dir, show, allow_python=allow_python_ops)
        return
    chosen = merged(told, TrainConfig)
    if settings:
        show_table([(key, str(value)) for key, value in chosen.to_plain().items()])
        return
    if file is None:
        raise typer.BadParameter("name a file, or a run with `--resume`", param_hint="FILE")
    training.begin(file, chosen, data_dir or Path("data"), output, show, allow_python=allow_python_ops)
