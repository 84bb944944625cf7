"""`train`: the weights of a network without choices, from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bayesnas_graph.cli.console import show_table
from bayesnas_graph.cli.target import AllowPython, NetworkName, Parameters

if TYPE_CHECKING:
    from bayesnas_graph.search.settings import Settings

_RUN, _PLACE = "The run", "Where it runs"


def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE|RUN]", help="A file, a shipped space, or the folder of a search."),
    ] = None,
    data: Annotated[str | None, typer.Option(help="The data; `bayesnas-graph data list` shows what there is.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option(envvar="BAYESNAS_DATA", help="Where files of data sets are; `data` if left out.")
    ] = None,
    network: NetworkName = None,
    parameters: Parameters = None,
    config: Annotated[Path | None, typer.Option(metavar="TOML", help="A file of settings.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("-s", "--set", metavar="KEY=VALUE", help="Any setting; `--settings` lists them.")
    ] = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="List all settings with their values and leave.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="A new folder for the run.", rich_help_panel=_RUN),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Go on with a training from its last checkpoint.", rich_help_panel=_RUN),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="How often every sample is seen.", rich_help_panel=_RUN)] = None,
    batch: Annotated[int | None, typer.Option(help="Samples in a step.", rich_help_panel=_RUN)] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate in the beginning.", rich_help_panel=_RUN)] = None,
    drop_path: Annotated[
        float | None, typer.Option(help="Chance that a path is dropped, in the end.", rich_help_panel=_RUN)
    ] = None,
    auxiliary: Annotated[
        float | None, typer.Option(help="Weight of the loss of an auxiliary head.", rich_help_panel=_RUN)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything that is random.", rich_help_panel=_RUN)] = None,
    display: Annotated[
        Literal["auto", "live", "plain"], typer.Option(help="With a bar, or lines alone.", rich_help_panel=_RUN)
    ] = "auto",
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.", rich_help_panel=_PLACE)] = None,
    precision: Annotated[str | None, typer.Option(help="fp32, bf16 or fp16.", rich_help_panel=_PLACE)] = None,
    channels_last: Annotated[
        bool | None,
        typer.Option("--channels-last", help="Keep channels innermost in memory.", rich_help_panel=_PLACE),
    ] = None,
    compile: Annotated[
        bool | None, typer.Option("--compile", help="Use torch.compile.", rich_help_panel=_PLACE)
    ] = None,
    deterministic: Annotated[
        bool | None,
        typer.Option("--deterministic", help="Refuse operations that differ from run to run.", rich_help_panel=_PLACE),
    ] = None,
    allow_python_ops: AllowPython = False,
) -> None:
    """Train a network without choices from scratch, by the recipe that architectures are compared with."""
    from bayesnas_graph.cli import training
    from bayesnas_graph.cli.running import Show
    from bayesnas_graph.search.settings import assigned, merged, option, read_settings
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
