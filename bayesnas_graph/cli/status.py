"""`status`: how a run stands, as its folder shows it. It may be running, in whatever process."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnas_graph.cli.console import labelled
from bayesnas_graph.cli.outcome import unmet
from bayesnas_graph.cli.running import resume_hint
from bayesnas_graph.cli.standing import duration, step_time
from bayesnas_graph.cli.tally import Tally
from bayesnas_graph.cli.trained import is_training, training_json, training_rows
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import Traces, read_traces
from bayesnas_graph.runs.strategies import DEFAULT, strategy_info

WIDTH, HEIGHT = 100, 40  # of the table of switches, at most


def status(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show how a search, a training or a compression stands, while it runs and afterwards."""
    found, now = read_traces(RunPaths(run)), datetime.now(UTC)
    if as_json:
        typer.echo(json.dumps(_json(found), indent=2, allow_nan=False))
        return
    for label, text in _rows(found, now):
        typer.echo(labelled(label, text))
    if found.switches:
        typer.echo()
        for line in Tally.of(found.switches, found.alive).lines(WIDTH, HEIGHT):
            typer.echo(line)
    if not found.running and found.result is None:
        typer.echo("\nresume with")
        typer.echo(f"  {_resume(found)}")


def _rows(found: Traces, now: datetime) -> list[tuple[str, str]]:
    manifest, config, outline = found.manifest, found.config, found.outline
    device = outline.device if outline else config.get("device")
    subject = f"network {manifest['network']} of {manifest['space']} on {config.get('data')}"
    rows = [
        ("run", str(found.folder)),
        (_verb(found), f"{subject}, {device}, seed {config.get('seed')}"),
        ("begun", _begun(found, now)),
        ("state", _state(found, now)),
    ]
    if is_training(found):
        return [*rows, *training_rows(found)]
    rows.append(("step", _step(found)))
    if found.rows:
        first, last = found.rows[0], found.rows[-1]
        rows.append(("loss", f"{last['loss']:.4g}"))
        rows.append(("accuracy", f"{last['accuracy']:.3f} on samples that it was trained on"))
    if found.updates:
        rows.append(("", f"{found.updates[-1]['accuracy']:.3f} on held-out samples, at update {found.iteration}"))
    if found.result:
        rows.append(("", f"{found.result['accuracy']:.3f} on the test set, with the weights of the search"))
    if found.rows:
        rows.append(("step time", f"{step_time(first['seconds'])} at first, {step_time(last['seconds'])} now"))
    if found.updates and strategy_info(found.config.get("strategy", DEFAULT)).penalised:
        rows.append(("lambda", f"{found.updates[-1]['lambda']:.3g}"))
    return [*rows, *_size(found)]


def _begun(found: Traces, now: datetime) -> str:
    if found.begun is None:
        return "-"
    return f"{found.begun:%Y-%m-%d %H:%M:%S} UTC, {duration((now - found.begun).total_seconds())} ago"


def _state(found: Traces, now: datetime) -> str:
    if found.result is not None and not found.running:
        return f"finished: {found.result.get('why', 'all epochs are done')}"
    if found.state == "unfinished":
        return "not finished; whether it runs cannot be seen from here"
    if found.running:
        heard = f", last heard of {duration((now - found.heard).total_seconds())} ago" if found.heard else ""
        return f"running{heard}"
    return f"stopped{'' if found.checkpoint is None else f', with a checkpoint at step {found.checkpoint:,}'}"


def _step(found: Traces) -> str:
    if found.outline is None:
        return f"{found.step:,}"
    left = "" if found.left is None else f", {duration(found.left)} left"
    return f"{found.step:,} of {found.outline.total_steps:,}, {found.outline.phase(found.step)}{left}"


def _size(found: Traces) -> list[tuple[str, str]]:
    """That of the architecture so far, beside that of all candidates."""
    outline, sizes, rows = found.outline, found.sizes, []
    if sizes is not None:
        whole = (f" of {outline.parameters:,}", f" of {outline.flops:,}") if outline else ("", "")
        rows.append(("weights", f"{sizes[0]:,}{whole[0]}"))
        rows.append(("multiply-adds", f"{sizes[1]:,}{whole[1]}"))
    if outline is not None:
        rows += [("wanted", f"{text}{_met(found, text)}") for text in outline.wanted]
        rows.append(("switches", f"{len(found.alive):,} of {len(outline.switches):,} open"))
    return rows


def _met(found: Traces, text: str) -> str:
    if found.result is None:
        return ""
    return ": not met" if text in unmet(found.result, found.config) else ": met"


def _resume(found: Traces) -> str:
    return resume_hint(_verb(found), found.folder, allow_python=bool(found.manifest.get("python_ops")))


def _verb(found: Traces) -> str:
    """What began the run, and goes on with it."""
    return str(found.manifest["kind"]) if is_training(found) else "search"


def _json(found: Traces) -> dict[str, Any]:
    outline, config = found.outline, found.config
    last: dict[str, float] = found.rows[-1] if found.rows else {}
    update: dict[str, float] = found.updates[-1] if found.updates else {}
    known = {
        "version": 1,
        "run": str(found.folder),
        "state": found.state,
        "space": found.manifest["space"],
        "network": found.manifest["network"],
        "data": config.get("data"),
        "device": outline.device if outline else None,
        "seed": config.get("seed"),
        "begun": found.begun.isoformat() if found.begun else None,
    }
    going_on = {
        "checkpoint": found.checkpoint,
        "resume": None if found.running or found.result else _resume(found),
    }
    if is_training(found):
        return {**known, **training_json(found), **going_on}
    return {
        **known,
        "step": found.step,
        "steps": outline.total_steps if outline else None,
        "iteration": found.iteration,
        "iterations": config.get("iterations"),
        "loss": _finite(last.get("loss")),
        "accuracy": {
            "train": _finite(last.get("accuracy")),
            "held_out": _finite(update.get("accuracy")),
            "test": found.result["accuracy"] if found.result else None,
        },
        "step_seconds": {
            "first": _finite(found.rows[0]["seconds"] if found.rows else None),
            "now": _finite(last.get("seconds")),
        },
        "seconds_left": _finite(found.left),
        "lambda": _finite(update.get("lambda")),
        "weights": found.sizes[0] if found.sizes else None,
        "flops": found.sizes[1] if found.sizes else None,
        "switches": {switch.name: switch.name in found.alive for switch in found.switches},
        "why": found.result["why"] if found.result else None,
        "unmet": unmet(found.result, config) if found.result else None,
        **going_on,
    }


def _finite(number: float | None) -> float | None:
    """What JSON can hold."""
    return number if number is not None and isfinite(number) else None
