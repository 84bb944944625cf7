"""The page: a heading, the legend, and the panels in rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bayesnas_graph.report.pictures.diagram import Diagram, Panel
from bayesnas_graph.report.pictures.geometry import SCREEN, TIGHT, Placement, VertexSize, place
from bayesnas_graph.report.pictures.measure import SMALL, TITLE, box_size, choice_size
from bayesnas_graph.report.pictures.words import text_width

PAGE_WIDTH = 1400.0
MARGIN = 24.0
PANEL_GAP = 20.0
INSET = 20.0  # between the frame of a panel and its contents
HEADING = 72.0  # the name of the network and a summary line
PANEL_HEADING = 34.0
NOTE_LINE = 16.0
LEGEND_LINE = 22.0
SWATCH = 22.0


@dataclass(frozen=True)
class Placed:
    """A panel with its position on the page; its contents are relative to `inner`."""

    panel: Panel
    sizes: tuple[VertexSize, ...]
    placement: Placement
    x: float
    y: float
    width: float
    height: float

    @property
    def inner(self) -> tuple[float, float]:
        """Where the contents begin."""
        return self.x + INSET, self.y + heading_height(self.panel)


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend."""

    label: str
    sign: str  # the symbol it explains, such as "strand"
    x: float
    y: float


@dataclass(frozen=True)
class Page:
    """A page with the positions of everything on it."""

    diagram: Diagram
    panels: tuple[Placed, ...]
    keys: tuple[Key, ...]
    width: float
    height: float


def lay_out(diagram: Diagram) -> Page:
    """Arrange a diagram on a page."""
    room = PAGE_WIDTH - 2 * MARGIN
    sized = [measured(panel, room) for panel in diagram.panels]
    room = max([room, *(placed.width for placed in sized)])
    keys, bottom = _legend(diagram, room)
    placed: list[Placed] = []
    x, y, row = MARGIN, bottom + PANEL_GAP, 0.0
    for panel in sized:
        if x > MARGIN and x + panel.width > MARGIN + room:
            x, y, row = MARGIN, y + row + PANEL_GAP, 0.0
        placed.append(replace(panel, x=x, y=y))
        x += panel.width + PANEL_GAP
        row = max(row, panel.height)
    titles = text_width(diagram.title, 22, bold=True), text_width(diagram.summary, TITLE)
    ends = [key.x + SWATCH + 8 + text_width(key.label, SMALL) for key in keys]
    width = max([*(panel.x + panel.width for panel in placed), *ends, *(MARGIN + title for title in titles)])
    return Page(diagram, tuple(placed), keys, width + MARGIN, y + row + MARGIN)


def heading_height(panel: Panel) -> float:
    """The height above the contents of a panel."""
    return PANEL_HEADING + NOTE_LINE * len(panel.notes) + 12


def measured(panel: Panel, room: float) -> Placed:
    """A panel with its size and the layout of its contents, at no position yet."""
    sizes = {box.key: box_size(box) for box in panel.boxes}
    sizes.update((choice.key, choice_size(panel, choice)) for choice in panel.choices)
    order = {key: index for index, key in enumerate(sorted(sizes))}
    edges = [(order[wire.source], order[wire.target]) for wire in panel.wires]
    listed = tuple(sizes[key] for key in sorted(sizes))
    placement = _placement(listed, edges, room - 2 * INSET)
    texts = [text_width(panel.title, 15, bold=True), *(text_width(note, SMALL) for note in panel.notes)]
    width = max(placement.width, *texts) + 2 * INSET
    height = placement.height + heading_height(panel) + INSET
    return Placed(panel, listed, placement, 0, 0, width, height)


def _placement(sizes: tuple[VertexSize, ...], edges: list[tuple[int, int]], limit: float) -> Placement:
    """Positions within a width: with less space between columns, or in more rows, if there is not enough room."""
    for gaps in (SCREEN, TIGHT):
        placement = place(sizes, edges, limit, gaps)
        if placement.width <= limit:
            return placement
    wrapped = [place(sizes, edges, limit, gaps, split=True) for gaps in (SCREEN, TIGHT)]
    return min(wrapped, key=lambda placement: (placement.width > limit, placement.height))


def _legend(diagram: Diagram, room: float) -> tuple[tuple[Key, ...], float]:
    """The legend of symbols and candidate colours, in as many lines as needed, and its height."""
    kinds = {box.kind for panel in diagram.panels for box in panel.boxes}
    choices = [choice for panel in diagram.panels for choice in panel.choices]
    signs = [
        ("node", "node, joins what flows in", "node" in kinds),
        ("operation", "operation", "operation" in kinds),
        ("motif", "motif", any(b.kind == "motif" and not b.opened for p in diagram.panels for b in p.boxes)),
        ("opened", "motif with a panel of its own", any(b.opened for p in diagram.panels for b in p.boxes)),
        ("zero", "choice: all of it may be off", any(choice.may_be_off for choice in choices)),
        ("optional", "optional", any(choice.dashed for choice in choices)),
    ]
    keys: list[Key] = []
    groups = [[(sign, text) for sign, text, shown in signs if shown], [("strand", name) for name in diagram.shown]]
    y = HEADING
    for group in groups:
        x = MARGIN
        for sign, label in group:
            width = SWATCH + 8 + text_width(label, SMALL) + 20
            if x > MARGIN and x + width > MARGIN + room:
                x, y = MARGIN, y + LEGEND_LINE
            keys.append(Key(label, sign, x, y + LEGEND_LINE / 2))
            x += width
        y += LEGEND_LINE if group else 0
    return tuple(keys), y
