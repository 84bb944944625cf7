"""Key numbers of a run, at the top of its page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story
from bayesnas_graph.report.templates import render_template
from bayesnas_graph.runs.reading.run import Traces

KINDS = {"search": "search", "train": "training run", "compress": "compression run"}


class Tile(NamedTuple):
    """A labelled number with a note."""

    label: str
    value: str
    note: str = ""


def overview(story: Story) -> Section:
    """The state of a run and its key numbers."""
    body = render_template(
        "overview.html", tiles=list(_tiles(story)), state=state_text(story.found), damage=story.damage
    )
    return Section("overview", "Overview", body)


def lead(story: Story) -> str:
    """A run in one line."""
    manifest, config = story.found.manifest, story.found.config
    subject = f"{KINDS.get(story.kind, 'run')}: network {manifest['network']} of {manifest['space']}"
    return f"{subject} on {config.get('data')}, seed {config.get('seed')}"


def state_text(run: Traces) -> str:
    """Why a run ended, or that it is not finished."""
    if run.result is not None:
        return str(run.result.get("why", "all epochs are done"))
    states = {"running": "the run is still in progress", "stopped": "the run was stopped"}
    return f"{states.get(run.state, 'the run is not finished')}; these are the results so far"


def _tiles(story: Story) -> Iterator[Tile]:
    run, result, outline = story.found, story.found.result, story.found.outline
    if result is not None:
        yield Tile("accuracy", f"{100 * result['accuracy']:.2f} %", "on the test set")
    elif run.updates:
        yield Tile("accuracy", f"{100 * run.updates[-1]['accuracy']:.2f} %", "on held-out samples")
    if run.sizes is not None:
        whole = (f"of {outline.parameters:,}", f"of {outline.flops:,}") if outline else ("", "")
        yield Tile("parameters", f"{run.sizes[0]:,}", whole[0])
        yield Tile("multiply-adds", f"{run.sizes[1]:,}", whole[1])
    if outline is not None:
        yield Tile("open switches", f"{len(run.alive):,}", f"of {len(outline.switches):,}")
    if run.updates:
        yield Tile("updates", f"{run.iteration:,}", f"final lambda {run.updates[-1]['lambda']:.3g}")
    elif run.rows and "epoch" in run.rows[-1]:
        yield Tile("epochs", f"{int(run.rows[-1]['epoch']):,}")
    yield Tile("steps", f"{run.step:,}")
    if run.begun is not None and run.heard is not None and run.heard > run.begun:
        yield Tile("time", _duration(run.begun, run.heard), f"started {run.begun:%Y-%m-%d %H:%M} UTC")


def _duration(start: datetime, end: datetime) -> str:
    seconds = int((end - start).total_seconds())
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds % 60:02} s"
