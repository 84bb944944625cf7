"""`train`: training of a network without choices, from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph import api
from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.architecture_options import GivenSwitches, GivenText, given_architecture
from bayesnas_graph.cli.options import option_group, settings_options
from bayesnas_graph.cli.run_options import Loggers, RunOptions, exit_when_interrupted
from bayesnas_graph.cli.terminal import loading
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.settings import Settings
from bayesnas_graph.runs.subject import parameter_values

if TYPE_CHECKING:
    from bayesnas_graph.derive import Architecture


@settings_options(TrainConfig)
@option_group("options", RunOptions)
def train(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE|RUN", help="File, shipped space, or folder of a search.", autocompletion=suggestions.spaces
        ),
    ] = None,
    architecture: GivenText = None,
    keep: GivenSwitches = None,
    settings: list[Settings],
    loggers: Loggers = None,
    options: RunOptions,
) -> None:
    """Train a network without choices from scratch, with the usual recipe for comparing architectures."""
    options.check(new_only=architecture is not None or bool(keep))
    config = options.config("train", TrainConfig, file, settings)
    source = None if config is None or file is None else _source(file, config, architecture, keep, options)
    with loading():
        from bayesnas_graph.cli.display.train_view import TrainView

    with exit_when_interrupted():
        api.train(
            source,
            output=options.output,
            resume=options.resume,
            data_dir=options.data_dir,
            allow_python=options.allow_python,
            watch=TrainView(live=options.live),
            loggers=loggers or (),
            config=config,
        )


def _source(
    file: Path, config: TrainConfig, architecture: str | None, keep: list[str] | None, options: RunOptions
) -> Architecture | Path:
    """Return the file, or the architecture of its space that is given. Raises NasError."""
    given = given_architecture(architecture, keep)
    if given is None:
        return file
    return api.derive(
        file,
        architecture=given,
        network=config.network,
        parameters=parameter_values(config.parameters),
        allow_python=options.allow_python,
    )
