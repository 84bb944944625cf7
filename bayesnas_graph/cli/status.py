"""`status`: the progress of a run, read from its folder while it runs or afterwards."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnas_graph.cli.console import duration, labelled, resume_command, short_time
from bayesnas_graph.cli.display.search_summary import unmet
from bayesnas_graph.cli.display.switch_table import SwitchTable
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import Traces, read_traces
from bayesnas_graph.runs.strategies import DEFAULT, strategy_info

WIDTH, HEIGHT = 100, 40  # maximum size of the table of switches


def status(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show the progress of a search, training run or compression run, while it runs or afterwards."""
    traces, now = read_traces(RunPaths(run)), datetime.now(UTC)
    if as_json:
        typer.echo(json.dumps(_json(traces), indent=2, allow_nan=False))
        return
    for label, text in _rows(traces, now):
        typer.echo(labelled(label, text))
    if traces.switches:
        typer.echo()
        for line in SwitchTable.of(traces.switches, traces.alive).lines(WIDTH, HEIGHT):
            typer.echo(line)
    if not traces.running and traces.result is None:
        typer.echo("\nresume with")
        typer.echo(f"  {_resume(traces)}")


def _rows(traces: Traces, now: datetime) -> list[tuple[str, str]]:
    manifest, config, outline = traces.manifest, traces.config, traces.outline
    device = outline.device if outline else config.get("device")
    subject = f"network {manifest['network']} of {manifest['space']} on {config.get('data')}"
    rows = [
        ("run", str(traces.folder)),
        (_verb(traces), f"{subject}, {device}, seed {config.get('seed')}"),
        ("started", _started(traces, now)),
        ("state", _state(traces, now)),
    ]
    if _is_training(traces):
        return [*rows, *_training_rows(traces)]
    rows.append(("step", _step(traces)))
    if traces.rows:
        first, last = traces.rows[0], traces.rows[-1]
        rows.append(("loss", f"{last['loss']:.4g}"))
        rows.append(("accuracy", f"{last['accuracy']:.3f} on training samples"))
    if traces.updates:
        rows.append(("", f"{traces.updates[-1]['accuracy']:.3f} on held-out samples, at update {traces.iteration}"))
    if traces.result:
        rows.append(("", f"{traces.result['accuracy']:.3f} on the test set, with the weights of the search"))
    if traces.rows:
        rows.append(("step time", f"{short_time(first['seconds'])} at first, {short_time(last['seconds'])} now"))
    if traces.updates and strategy_info(traces.config.get("strategy", DEFAULT)).penalised:
        rows.append(("lambda", f"{traces.updates[-1]['lambda']:.3g}"))
    return [*rows, *_size(traces)]


def _started(traces: Traces, now: datetime) -> str:
    if traces.begun is None:
        return "-"
    return f"{traces.begun:%Y-%m-%d %H:%M:%S} UTC, {duration((now - traces.begun).total_seconds())} ago"


def _state(traces: Traces, now: datetime) -> str:
    if traces.result is not None and not traces.running:
        return f"finished: {traces.result.get('why', 'all epochs are done')}"
    if traces.state == "unfinished":
        return "not finished; it may be running on another machine"
    if traces.running:
        heard = f", last update {duration((now - traces.heard).total_seconds())} ago" if traces.heard else ""
        return f"running{heard}"
    return f"stopped{'' if traces.checkpoint is None else f', with a checkpoint at step {traces.checkpoint:,}'}"


def _step(traces: Traces) -> str:
    if traces.outline is None:
        return f"{traces.step:,}"
    left = "" if traces.left is None else f", {duration(traces.left)} left"
    return f"{traces.step:,} of {traces.outline.total_steps:,}, {traces.outline.phase(traces.step)}{left}"


def _size(traces: Traces) -> list[tuple[str, str]]:
    """Return the size of the architecture so far, beside that of all candidates."""
    outline, sizes, rows = traces.outline, traces.sizes, []
    if sizes is not None:
        whole = (f" of {outline.parameters:,}", f" of {outline.flops:,}") if outline else ("", "")
        rows.append(("parameters", f"{sizes[0]:,}{whole[0]}"))
        rows.append(("multiply-adds", f"{sizes[1]:,}{whole[1]}"))
    if outline is not None:
        rows += [("target", f"{text}{_met(traces, text)}") for text in outline.wanted]
        rows.append(("switches", f"{len(traces.alive):,} of {len(outline.switches):,} open"))
    return rows


def _met(traces: Traces, text: str) -> str:
    if traces.result is None:
        return ""
    return ": not met" if text in unmet(traces.result, traces.config) else ": met"


def _resume(traces: Traces) -> str:
    return resume_command(_verb(traces), traces.folder, allow_python=bool(traces.manifest.get("python_ops")))


def _verb(traces: Traces) -> str:
    """Return the verb that started the run, and resumes it."""
    return str(traces.manifest["kind"]) if _is_training(traces) else "search"


def _json(traces: Traces) -> dict[str, Any]:
    outline, config = traces.outline, traces.config
    last: dict[str, float] = traces.rows[-1] if traces.rows else {}
    update: dict[str, float] = traces.updates[-1] if traces.updates else {}
    known = {
        "version": 1,
        "run": str(traces.folder),
        "state": traces.state,
        "space": traces.manifest["space"],
        "network": traces.manifest["network"],
        "data": config.get("data"),
        "device": outline.device if outline else None,
        "seed": config.get("seed"),
        "begun": traces.begun.isoformat() if traces.begun else None,
    }
    going_on = {
        "checkpoint": traces.checkpoint,
        "resume": None if traces.running or traces.result else _resume(traces),
    }
    if _is_training(traces):
        return {**known, **_training_json(traces), **going_on}
    return {
        **known,
        "step": traces.step,
        "steps": outline.total_steps if outline else None,
        "iteration": traces.iteration,
        "iterations": config.get("iterations"),
        "loss": _finite(last.get("loss")),
        "accuracy": {
            "train": _finite(last.get("accuracy")),
            "held_out": _finite(update.get("accuracy")),
            "test": traces.result["accuracy"] if traces.result else None,
        },
        "step_seconds": {
            "first": _finite(traces.rows[0]["seconds"] if traces.rows else None),
            "now": _finite(last.get("seconds")),
        },
        "seconds_left": _finite(traces.left),
        "lambda": _finite(update.get("lambda")),
        "weights": traces.sizes[0] if traces.sizes else None,
        "flops": traces.sizes[1] if traces.sizes else None,
        "switches": {switch.name: switch.name in traces.alive for switch in traces.switches},
        "switch_names": {switch.name: switch.text for switch in traces.switches},
        "why": traces.result["why"] if traces.result else None,
        "unmet": unmet(traces.result, config) if traces.result else None,
        **going_on,
    }


def _is_training(traces: Traces) -> bool:
    """Return whether a run is a training or compression run rather than a search."""
    return traces.manifest.get("kind") in ("train", "compress")


def _training_rows(traces: Traces) -> list[tuple[str, str]]:
    """Return progress, and the results of the last epoch."""
    left = _left(traces)
    until = "" if left is None else f", {duration(left)} left"
    rows = [("epoch", f"{_epoch(traces):,} of {_epochs(traces)}{until}"), ("step", f"{traces.step:,}")]
    if traces.rows:
        last = traces.rows[-1]
        rows.append(("loss", f"{last['loss']:.4g}"))
        rows.append(("accuracy", f"{last['accuracy']:.4f} on training samples"))
        rows.append(("", f"{last.get('test_accuracy', float('nan')):.4f} on the test set"))
        rows.append(("epoch time", duration(last["seconds"])))
    if traces.result is not None:
        rows.append(("parameters", f"{traces.result['parameters']:,}"))
        rows.append(("multiply-adds", f"{traces.result['flops']:,}"))
    return rows


def _training_json(traces: Traces) -> dict[str, Any]:
    """Return progress and the results of the last epoch for JSON."""
    last: dict[str, float] = traces.rows[-1] if traces.rows else {}
    return {
        "kind": traces.manifest["kind"],
        "epoch": _epoch(traces),
        "epochs": _epochs(traces),
        "step": traces.step,
        "loss": {"train": _finite(last.get("loss")), "test": _finite(last.get("test_loss"))},
        "accuracy": {"train": _finite(last.get("accuracy")), "test": _finite(last.get("test_accuracy"))},
        "epoch_seconds": _finite(last.get("seconds")),
        "seconds_left": _finite(_left(traces)),
        "weights": traces.result["parameters"] if traces.result else None,
        "flops": traces.result["flops"] if traces.result else None,
    }


def _epoch(traces: Traces) -> int:
    """Return the number of finished epochs."""
    return int(_finite(traces.rows[-1].get("epoch")) or 0) if traces.rows else 0


def _epochs(traces: Traces) -> int | None:
    """Return the number of epochs of the whole run; for a compression run the maximum."""
    config = traces.config
    names = ("epochs", "loops", "loop_epochs", "fine_epochs") if "loops" in config else ("epochs",)
    numbers = [number for name in names if isinstance(number := config.get(name), int)]
    if len(numbers) < len(names):
        return None
    return numbers[0] + numbers[1] * numbers[2] + numbers[3] if len(numbers) > 1 else numbers[0]


def _left(traces: Traces) -> float | None:
    """Return the estimated seconds to the end of a running run."""
    epochs = _epochs(traces)
    if not (traces.running and traces.rows and epochs is not None):
        return None
    return max(0, epochs - _epoch(traces)) * traces.rows[-1]["seconds"]


def _finite(number: float | None) -> float | None:
    """Return a number that JSON can hold."""
    return number if number is not None and isfinite(number) else None
