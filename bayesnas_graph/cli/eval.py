"""`eval`: accuracy, size and latency of a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph import api
from bayesnas_graph.cli.console import echo, labelled, short_time, show_diagnostics
from bayesnas_graph.cli.network_options import AllowPython, check_parameters
from bayesnas_graph.cli.options import DataDir, settings_options
from bayesnas_graph.cli.terminal import bold, loading
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.runs.config.train import EvalConfig
from bayesnas_graph.runs.settings import Settings, merged

if TYPE_CHECKING:
    from bayesnas_graph.train.evaluate import Evaluation


@settings_options(EvalConfig, files=False)
def eval(
    *,
    target: Annotated[
        Path, typer.Argument(metavar="RUN|FILE", help="Folder of a run, or a file together with `--weights`.")
    ],
    weights: Annotated[Path | None, typer.Option(metavar="FILE", help="Weights, as safetensors.")] = None,
    settings: list[Settings],
    data_dir: DataDir = None,
    runs: Annotated[
        int, typer.Option(min=1, max=999, metavar="N", help="Number of measurements of each latency.")
    ] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Measure a network: accuracy and loss on the test set, size, and latency on this device."""
    with loading():
        from bayesnas_graph.runs.processes import is_first

    config = merged(settings, EvalConfig)
    if (target / "run.json").is_file():
        if weights is not None or config.network is not None or config.parameters:
            raise typer.BadParameter("a run has its own network and weights", param_hint="RUN")
    elif weights is None and config.data is not None:
        raise typer.BadParameter("pass the weights to measure accuracy with", param_hint="--weights")
    check_parameters(config)
    evaluation = api.evaluate(
        target, weights=weights, data_dir=data_dir, runs=runs, config=config, allow_python=allow_python
    )
    if not is_first():
        return
    show_diagnostics(evaluation.warnings)
    if evaluation.not_finite:
        show_diagnostics([_warning(evaluation)])
    if as_json:
        about = {"version": 1, "network": evaluation.network, "data": evaluation.data, "device": evaluation.device}
        typer.echo(json_text(about | evaluation.to_plain()))
        return
    for line in _lines(evaluation):
        echo(line)


def _warning(evaluation: Evaluation) -> Diagnostic:
    """Return the warning about weights with NaN."""
    names = evaluation.not_finite
    more = f" and {len(names) - 1:,} more tensors" if len(names) > 1 else ""
    message = f"the weights hold NaN or infinite values, in `{names[0]}`{more}"
    return Diagnostic("NAS622", message, help="accuracy and loss mean nothing", severity="warning")


def _lines(evaluation: Evaluation) -> Iterator[str]:
    yield labelled("network", bold(f"{evaluation.network} of {evaluation.space}"))
    if evaluation.score is not None:
        yield labelled(
            evaluation.objective.metric.name,
            f"{bold(f'{evaluation.score.accuracy:.4f}')} on the {evaluation.samples:,} test images of "
            f"{evaluation.data}",
        )
        yield labelled("loss", f"{evaluation.score.loss:.4f}")
        for name, value in evaluation.objective.more(evaluation.score.loss).items():
            yield labelled(name.upper(), f"{value:.4f}")
    yield labelled("parameters", f"{evaluation.parameters:,} ({evaluation.bytes:,} bytes)")
    yield labelled("multiply-adds", f"{at_least(evaluation.flops, evaluation.flops_at_least)} per sample")
    for one in evaluation.latencies:
        spread = f"{short_time(one.low)} to {short_time(one.high)}"
        images = "1 image" if one.batch == 1 else f"{one.batch} images"
        yield labelled("latency", f"{short_time(one.median)} ({spread}) for {images}, {evaluation.device}")
