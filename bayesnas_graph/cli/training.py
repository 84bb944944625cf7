"""A training run on the command line: started or resumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.cli.epochs import TrainView
from bayesnas_graph.cli.running import Show, check_parameters, check_resume, exit_when_interrupted

if TYPE_CHECKING:
    from bayesnas_graph.runs.config.train import TrainConfig
    from bayesnas_graph.runs.settings import Settings


def begin(
    file: Path, config: TrainConfig, data_dir: Path, output: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Start a training run in a new folder."""
    from bayesnas_graph import api

    check_parameters(config)
    view = TrainView(live=show.live)
    with exit_when_interrupted():
        api.train(file, config=config, data_dir=data_dir, output=output, watch=(view,), allow_python_ops=allow_python)


def go_on(
    run: Path, file: Path | None, told: Sequence[Settings], data_dir: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Resume a training run from its last checkpoint, with its own settings."""
    from bayesnas_graph import api

    check_resume("train", run, file, told, allow_python=allow_python)
    with exit_when_interrupted():
        api.train(resume=run, data_dir=data_dir, watch=(TrainView(live=show.live),), allow_python_ops=allow_python)
