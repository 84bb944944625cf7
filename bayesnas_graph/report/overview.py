"""Key numbers of a run, at the top of its page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from bayesnas_graph.report.reported_run import ReportedRun
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.templates import render_template
from bayesnas_graph.runs.reading.run import RunRecord

KINDS = {"search": "search", "train": "training run", "compress": "compression run"}


class Tile(NamedTuple):
    """A labelled number with a note."""

    label: str
    value: str
    note: str = ""


def overview(run: ReportedRun) -> Section:
    """The state of a run and its key numbers."""
    body = render_template("overview.html", tiles=list(_tiles(run)), state=state_text(run.record), damage=run.damage)
    return Section("overview", "Overview", body)


def lead(run: ReportedRun) -> str:
    """A run in one line."""
    manifest, config = run.record.manifest, run.record.config
    subject = f"{KINDS.get(run.kind, 'run')}: network {manifest['network']} of {manifest['space']}"
    return f"{subject} on {config.get('data')}, seed {config.get('seed')}"


def state_text(run: RunRecord) -> str:
    """Why a run ended, or that it is not finished."""
    if run.result is not None:
        return str(run.result.get("why", "the run is finished"))
    states = {"running": "the run is still in progress", "stopped": "the run was stopped"}
    return f"{states.get(run.state, 'the run is not finished')}; these are the results so far"


def _tiles(run: ReportedRun) -> Iterator[Tile]:
    record, result, outline = run.record, run.record.result, run.record.outline
    if result is not None:
        yield Tile("accuracy", f"{100 * result['accuracy']:.2f} %", "on the test set")
    elif record.updates:
        yield Tile("accuracy", f"{100 * record.updates[-1]['accuracy']:.2f} %", "on held-out samples")
    if record.sizes is not None:
        totals = (f"of {outline.parameters:,}", f"of {outline.flops_text}") if outline else ("", "")
        yield Tile("parameters", f"{record.sizes[0]:,}", totals[0])
        yield Tile("multiply-adds", record.flops_text, totals[1])
    if outline is not None:
        yield Tile("open switches", f"{len(record.alive):,}", f"of {len(outline.switches):,}")
    if record.updates:
        yield Tile("updates", f"{record.iteration:,}", f"final lambda {record.updates[-1]['lambda']:.3g}")
    elif record.rows and "epoch" in record.rows[-1]:
        yield Tile("epochs", f"{int(record.rows[-1]['epoch']):,}")
    yield Tile("steps", f"{record.step:,}")
    if record.begun is not None and record.heard is not None and record.heard > record.begun:
        yield Tile("time", _duration(record.begun, record.heard), f"started {record.begun:%Y-%m-%d %H:%M} UTC")


def _duration(start: datetime, end: datetime) -> str:
    seconds = int((end - start).total_seconds())
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds % 60:02} s"
