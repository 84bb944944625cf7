"""`eval`: how good a network with its weights is, how large, and how fast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.console import labelled
from bayesnas_graph.cli.options import DataDir, settings_options
from bayesnas_graph.cli.running import check_parameters
from bayesnas_graph.cli.standing import step_time
from bayesnas_graph.cli.target import AllowPython
from bayesnas_graph.runs.config.train import EvalConfig
from bayesnas_graph.runs.settings import Settings, merged

if TYPE_CHECKING:
    from bayesnas_graph.train.evaluate import Evaluation


@settings_options(EvalConfig, files=False)
def eval(
    *,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Folder of a run, or a file together with `--weights`.")
    ],
    weights: Annotated[Path | None, typer.Option(metavar="FILE", help="Weights, as safetensors.")] = None,
    settings: list[Settings],
    data_dir: DataDir = None,
    runs: Annotated[int, typer.Option(min=1, help="Number of measurements of each latency.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Measure a network: accuracy and loss on the test set, size, and how long it takes on this device."""
    from bayesnas_graph import api
    from bayesnas_graph.runs.processes import is_first

    config = merged(settings, EvalConfig)
    if (target / "run.json").is_file():
        if weights is not None or config.network is not None or config.parameters:
            raise typer.BadParameter("a run has its own network and weights", param_hint="TARGET")
    elif weights is None and config.data is not None:
        raise typer.BadParameter("name the weights that the accuracy is to be measured with", param_hint="--weights")
    check_parameters(config)
    found = api.evaluate(
        target, weights=weights, data_dir=data_dir, runs=runs, config=config, allow_python_ops=allow_python_ops
    )
    if not is_first():
        return
    if as_json:
        about = {"version": 1, "network": found.network, "data": found.data, "device": found.device}
        typer.echo(json.dumps(about | found.to_plain(), indent=2, allow_nan=False))
        return
    for line in _lines(found):
        typer.echo(line)


def _lines(found: Evaluation) -> Iterator[str]:
    yield labelled("network", f"{found.network} of {found.space}")
    if found.score is not None:
        yield labelled("accuracy", f"{found.score.accuracy:.4f} on the {found.samples:,} test images of {found.data}")
        yield labelled("loss", f"{found.score.loss:.4f}")
    yield labelled("weights", f"{found.parameters:,}, which take {found.bytes:,} bytes")
    yield labelled("multiply-adds", f"{found.flops:,} per sample")
    for one in found.latencies:
        spread = f"{step_time(one.low)} to {step_time(one.high)}"
        images = "1 image" if one.batch == 1 else f"{one.batch} images"
        yield labelled("latency", f"{step_time(one.median)} ({spread}) for {images}, {found.device}")
