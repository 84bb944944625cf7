"""A run in a few numbers, at the top of its page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from bayesnas_graph.report.html import filled
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story
from bayesnas_graph.runs.reading.run import Traces

KINDS = {"search": "search", "train": "training", "compress": "compression"}


class Tile(NamedTuple):
    """A number, what it is, and what it is to be seen beside."""

    label: str
    value: str
    beside: str = ""


def overview(story: Story) -> Section:
    """What has come of a run."""
    body = filled("overview.html", tiles=list(_tiles(story)), state=state_text(story.found), damage=story.damage)
    return Section("overview", "In short", body)


def lead(story: Story) -> str:
    """What a run is, in a line."""
    manifest, config = story.found.manifest, story.found.config
    subject = f"{KINDS.get(story.kind, 'run')} of network {manifest['network']} of {manifest['space']}"
    return f"{subject} on {config.get('data')}, seed {config.get('seed')}"


def state_text(found: Traces) -> str:
    """Whether it is done, and why it ended."""
    if found.result is not None:
        return str(found.result.get("why", "all epochs are done"))
    states = {"running": "it still runs", "stopped": "it was stopped before its end"}
    return f"{states.get(found.state, 'it is not finished')}: this is how far it has come"


def _tiles(story: Story) -> Iterator[Tile]:
    found, result, outline = story.found, story.found.result, story.found.outline
    if result is not None:
        yield Tile("accuracy", f"{100 * result['accuracy']:.2f} %", "on the test set")
    elif found.updates:
        yield Tile("accuracy", f"{100 * found.updates[-1]['accuracy']:.2f} %", "on held-out samples")
    if found.sizes is not None:
        whole = (f"of {outline.parameters:,}", f"of {outline.flops:,}") if outline else ("", "")
        yield Tile("weights", f"{found.sizes[0]:,}", whole[0])
        yield Tile("multiply-adds", f"{found.sizes[1]:,}", whole[1])
    if outline is not None:
        yield Tile("open switches", f"{len(found.alive):,}", f"of {len(outline.switches):,}")
    if found.updates:
        yield Tile("updates", f"{found.iteration:,}", f"lambda {found.updates[-1]['lambda']:.3g} in the end")
    elif found.rows and "epoch" in found.rows[-1]:
        yield Tile("epochs", f"{int(found.rows[-1]['epoch']):,}")
    yield Tile("steps", f"{found.step:,}")
    if found.begun is not None and found.heard is not None and found.heard > found.begun:
        yield Tile("time", _duration(found.begun, found.heard), f"begun {found.begun:%Y-%m-%d %H:%M} UTC")


def _duration(begun: datetime, ended: datetime) -> str:
    seconds = int((ended - begun).total_seconds())
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds % 60:02} s"
