"""`status`: the progress of a run, read from its folder while it runs or afterwards."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnas_graph.cli.console import (
    duration,
    echo,
    hint,
    labelled,
    resume_command,
    short_time,
    show_diagnostics,
    target,
)
from bayesnas_graph.cli.display.switch_table import SwitchTable
from bayesnas_graph.cli.sweep_status import show_sweep, sweep_json
from bayesnas_graph.cli.terminal import bold, dim, green, red, text_width
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.runs.consent import settings_name_code
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.comparison import Comparison
from bayesnas_graph.runs.reading.damage import damage
from bayesnas_graph.runs.reading.outline import unmet
from bayesnas_graph.runs.reading.run import RunRecord, read_run_record
from bayesnas_graph.runs.reading.sweep import is_sweep
from bayesnas_graph.runs.strategies import DEFAULT, strategy_info

WIDTH, HEIGHT = 100, 40  # maximum size of the table of switches


def status(
    run: Annotated[Path, typer.Argument(metavar="RUN|SWEEP", help="Folder of a run or a sweep.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show the progress of a search, training run, compression run or sweep, while it runs or afterwards."""
    if is_sweep(run):
        if as_json:
            typer.echo(json_text(sweep_json(run)))
        else:
            show_sweep(run)
        return
    record, now = read_run_record(RunPaths(run)), datetime.now(UTC)
    show_diagnostics(damage(record))
    if as_json:
        typer.echo(json_text(_json(record)))
        return
    for label, text in _rows(record, now):
        echo(labelled(label, text))
    if record.switches:
        echo()
        width = text_width(sys.stdout) or WIDTH
        for line in SwitchTable.of(record.switches, record.alive).lines(width, HEIGHT):
            echo(line)
    if not record.running and record.result is None:
        echo()
        hint("resume", _resume(record))


def _rows(record: RunRecord, now: datetime) -> list[tuple[str, str]]:
    manifest, config, outline = record.manifest, record.config, record.outline
    device = outline.device if outline else config.get("device")
    subject = f"network {manifest['network']} of {manifest['space']} on {config.get('data')}"
    rows = [
        ("run", dim(str(record.folder))),
        (record.kind, bold(f"{subject}, {device}, seed {config.get('seed')}")),
        ("started", _started(record, now)),
        ("state", _state(record, now)),
    ]
    if record.kind != "search":
        return [*rows, *_training_rows(record)]
    rows.append(("step", _step(record)))
    if record.rows:
        first, last = record.rows[0], record.rows[-1]
        rows.append(("loss", f"{last['loss']:.4g}"))
        rows.append((record.metric.name, f"{last['accuracy']:.3f} on training samples"))
    if record.updates:
        rows.append(("", f"{record.updates[-1]['accuracy']:.3f} on held-out samples, at update {record.iteration}"))
    if record.result:
        rows.append(("", f"{record.result['accuracy']:.3f} on the test set, with the weights of the search"))
    if record.comparison:
        rows.append(("compared", record.comparison.text()))
    if record.rows:
        rows.append(("step time", f"{short_time(first['seconds'])} at first, {short_time(last['seconds'])} now"))
    if record.updates and strategy_info(record.config.get("strategy", DEFAULT)).penalised:
        rows.append(("lambda", f"{record.updates[-1]['lambda']:.3g}"))
    return [*rows, *_size(record)]


def _started(record: RunRecord, now: datetime) -> str:
    if record.begun is None:
        return "-"
    return f"{record.begun:%Y-%m-%d %H:%M:%S} UTC, {duration((now - record.begun).total_seconds())} ago"


def _state(record: RunRecord, now: datetime) -> str:
    if record.result is not None and not record.running:
        return f"{green('finished')}: {record.result.get('why', 'all epochs are done')}"
    if record.state == "unfinished":
        return "not finished; it may be running on another machine"
    if record.running:
        heard = f", last update {duration((now - record.heard).total_seconds())} ago" if record.heard else ""
        return f"running{heard}"
    return (
        f"{red('stopped')}{'' if record.checkpoint is None else f', with a checkpoint at step {record.checkpoint:,}'}"
    )


def _step(record: RunRecord) -> str:
    if record.outline is None:
        return f"{record.step:,}"
    remaining = "" if record.left is None else f", {duration(record.left)} left"
    return f"{record.step:,} of {record.outline.total_steps:,}, {record.outline.phase(record.step)}{remaining}"


def _size(record: RunRecord) -> list[tuple[str, str]]:
    """Return the size of the architecture so far, beside that of all candidates."""
    outline, sizes, rows = record.outline, record.sizes, []
    if sizes is not None:
        totals = (f" of {outline.parameters:,}", f" of {outline.flops_text}") if outline else ("", "")
        rows.append(("parameters", f"{sizes[0]:,}{totals[0]}"))
        rows.append(("multiply-adds", f"{record.flops_text}{totals[1]}"))
    if outline is not None:
        rows += [("target", _target(record, text)) for text in outline.wanted]
        rows.append(("switches", f"{len(record.alive):,} of {len(outline.switches):,} open"))
    return rows


def _target(record: RunRecord, text: str) -> str:
    return text if record.result is None else target(text, met=text not in unmet(record.result, record.config))


def _resume(record: RunRecord) -> str:
    if record.manifest.get("data"):  # they are objects, which no command can give
        return f"nas.{record.kind}(resume={str(record.folder)!r}, data=(train, test))"
    needs_python = bool(record.manifest.get("python_ops")) or settings_name_code(record.config)
    return resume_command(record.kind, record.folder, allow_python=needs_python)


def _json(record: RunRecord) -> dict[str, Any]:
    outline, config = record.outline, record.config
    last: dict[str, float] = record.rows[-1] if record.rows else {}
    update: dict[str, float] = record.updates[-1] if record.updates else {}
    known = {
        "version": 1,
        "run": str(record.folder),
        "state": record.state,
        "space": record.manifest["space"],
        "network": record.manifest["network"],
        "data": config.get("data"),
        "device": outline.device if outline else None,
        "seed": config.get("seed"),
        "begun": record.begun.isoformat() if record.begun else None,
    }
    going_on = {
        "checkpoint": record.checkpoint,
        "resume": None if record.running or record.result else _resume(record),
    }
    if record.kind != "search":
        return {**known, **_training_json(record), **going_on}
    return {
        **known,
        "step": record.step,
        "steps": outline.total_steps if outline else None,
        "iteration": record.iteration,
        "iterations": config.get("iterations"),
        "loss": _finite(last.get("loss")),
        record.metric.column: {
            "train": _finite(last.get("accuracy")),
            "held_out": _finite(update.get("accuracy")),
            "test": record.result["accuracy"] if record.result else None,
        },
        "comparison": _comparison_json(record.comparison),
        "step_seconds": {
            "first": _finite(record.rows[0]["seconds"] if record.rows else None),
            "now": _finite(last.get("seconds")),
        },
        "seconds_left": _finite(record.left),
        "lambda": _finite(update.get("lambda")),
        "weights": record.sizes[0] if record.sizes else None,
        "flops": record.sizes[1] if record.sizes else None,
        "switches": {switch.name: switch.name in record.alive for switch in record.switches},
        "switch_names": {switch.name: switch.text for switch in record.switches},
        "why": record.result["why"] if record.result else None,
        "unmet": unmet(record.result, config) if record.result else None,
        **going_on,
    }


def _comparison_json(comparison: Comparison | None) -> dict[str, Any] | None:
    """Return the accuracies of architectures that are compared; None for those that are not trained yet."""
    if comparison is None:
        return None
    found, *others = (network.accuracy for network in comparison.networks)
    return {"done": comparison.done, "among": comparison.among, "found": found, "random": others}


def _training_rows(record: RunRecord) -> list[tuple[str, str]]:
    """Return progress, and the results of the last epoch."""
    until = "" if record.left is None else f", {duration(record.left)} left"
    rows = [("epoch", f"{record.epoch:,} of {record.epochs}{until}"), ("step", f"{record.step:,}")]
    if record.rows:
        last = record.rows[-1]
        rows.append(("loss", f"{last['loss']:.4g}"))
        rows.append((record.metric.name, f"{last['accuracy']:.4f} on training samples"))
        rows.append(("", f"{last.get('test_accuracy', float('nan')):.4f} on the test set"))
        rows.append(("epoch time", duration(last["seconds"])))
    if record.result is not None:
        rows.append(("parameters", f"{record.result['parameters']:,}"))
        rows.append(("multiply-adds", record.flops_text))
    return rows


def _training_json(record: RunRecord) -> dict[str, Any]:
    """Return progress and the results of the last epoch for JSON."""
    last: dict[str, float] = record.rows[-1] if record.rows else {}
    return {
        "kind": record.kind,
        "epoch": record.epoch,
        "epochs": record.epochs,
        "step": record.step,
        "loss": {"train": _finite(last.get("loss")), "test": _finite(last.get("test_loss"))},
        record.metric.column: {"train": _finite(last.get("accuracy")), "test": _finite(last.get("test_accuracy"))},
        "epoch_seconds": _finite(last.get("seconds")),
        "seconds_left": _finite(record.left),
        "weights": record.result["parameters"] if record.result else None,
        "flops": record.result["flops"] if record.result else None,
    }


def _finite(number: float | None) -> float | None:
    """Return a number that JSON can hold."""
    return number if number is not None and isfinite(number) else None
