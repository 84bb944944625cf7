"""A part of a page: safe HTML, the charts that it has room for, and what its scripts need to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

Spec = Mapping[str, Any]  # of Vega-Lite, without colours of the page and without a width


@dataclass(frozen=True)
class Chart:
    """A chart with its data. The page draws it in its own colours, as wide as there is room."""

    key: str  # of letters, digits and dashes: its anchor, and the name of its file
    title: str
    caption: str  # a sentence on how to read it
    spec: Spec


@dataclass(frozen=True)
class Section:
    """What stands under one heading."""

    key: str  # the anchor
    title: str
    body: Markup
    charts: tuple[Chart, ...] = ()  # `body` has a place for each: `chart.html`
    data: Mapping[str, object] = field(default_factory=dict)  # what JSON can hold, by what scripts know it under
