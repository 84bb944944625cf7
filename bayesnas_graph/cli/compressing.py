"""A compression run on the command line: started or resumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.cli.running import Show, check_parameters, check_resume, exit_when_interrupted
from bayesnas_graph.cli.stages import CompressView
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.runs.settings import Settings


def begin(
    target: Path,
    told: Sequence[Settings],
    weights: Path | None,
    data_dir: Path | None,
    output: Path | None,
    show: Show,
    *,
    allow_python: bool,
) -> None:
    """Start a compression run in a new folder."""
    from bayesnas_graph import api
    from bayesnas_graph.runs.config.compress import CompressConfig
    from bayesnas_graph.runs.settings import merged

    config = merged(told, CompressConfig)
    check_parameters(config)
    with exit_when_interrupted():
        api.compress(
            target,
            config=config,
            weights=weights,
            data_dir=data_dir,
            output=output,
            watch=(CompressView(live=show.live),),
            allow_python_ops=allow_python,
        )


def go_on(
    run: Path, target: Path | None, told: Sequence[Settings], data_dir: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Resume a compression run from its last checkpoint, with its own settings."""
    from bayesnas_graph import api

    check_resume("compress", run, None, told, allow_python=allow_python)
    if target is not None:
        help = "omit the network: the run has its own copy"
        raise NasError([Diagnostic("NAS601", f"`--resume` takes no network, but got `{target}`", help=help)])
    view = CompressView(live=show.live)
    with exit_when_interrupted():
        api.compress(resume=run, data_dir=data_dir, watch=(view,), allow_python_ops=allow_python)
