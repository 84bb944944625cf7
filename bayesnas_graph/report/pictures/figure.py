"""A panel as a figure for a paper: only nodes and arrows. Lengths are in points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bayesnas_graph.report.palette import DARK, LIGHT
from bayesnas_graph.report.pictures.convert import POINTS, PRINT, Picture
from bayesnas_graph.report.pictures.diagram import Box, Diagram, Panel
from bayesnas_graph.report.pictures.elements import curve, frame, length, quoted, safe, turning
from bayesnas_graph.report.pictures.geometry import Hop, Placement, VertexSize
from bayesnas_graph.report.pictures.sketch import (
    ARRIVING,
    COLUMN,
    LABEL,
    LABEL_LINE,
    LEAVING,
    NODE,
    NODE_LINE,
    SUBSCRIPT,
    TIP,
    CandidateLabel,
    Sketch,
    lines_of,
    sketch_of,
    text_height,
    width_of,
)
from bayesnas_graph.report.pictures.style import strand_dash

EDGE = 1.0  # around everything, for lines at the border
LEGEND_GAP, LEGEND_LINE, LEGEND_INDENT = 8.0, 10.0, 10.0
FONTS = "Helvetica, Arial, Liberation Sans, sans-serif"


@dataclass(frozen=True)
class Ink:
    """The colours of a figure. Without colours, candidates differ by name only."""

    text: str
    line: str  # of borders of boxes, and of lines that are not candidates
    node: str
    operation: str
    ground: str | None  # None for transparent
    candidates: tuple[str, ...]


def ink(*, mono: bool = False, dark: bool = False, ground: bool = False) -> Ink:
    """The colours for a light or dark background, which is painted if `ground` is true."""
    if dark:
        base = "#ffffff", "#c9d1d9", "#1c3a57", "#2d333b", "#0d1117" if ground else None
    else:
        base = "#000000", "#404040", "#e3f0fb", "#f4f4f4", "#ffffff" if ground else None
    text, line, node, operation, page = base
    if mono:
        return Ink(text, text, page or "none", page or "none", page, ())
    return Ink(text, line, node, operation, page, DARK if dark else LIGHT)


def figure_of(panel: Panel, diagram: Diagram, colours: Ink) -> Picture:
    """The figure, as wide as a column or a page of a paper, with selectable text."""
    sketch = sketch_of(panel)
    placement = sketch.placement()
    legend = _wrapped(sketch.legend, max(placement.width, COLUMN))
    room = max([placement.width, *(width_of(line, LABEL) + indent for line, indent in legend)])
    below = LEGEND_GAP + LEGEND_LINE * len(legend) if legend else 0.0
    width, height = room + 2 * EDGE, placement.height + below + 2 * EDGE
    size = f'width="{length(width)}pt" height="{length(height)}pt" viewBox="0 0 {length(width)} {length(height)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title" font-family="{FONTS}">',
        f'<title id="title">{safe(f"{panel.title} of {diagram.title}")}</title>',
    ]
    if colours.ground is not None:
        lines.append(f'<rect {frame(0, 0, width, height)} fill="{colours.ground}"/>')
    drawn = _Drawing(sketch, placement, diagram.colours, colours).lines()
    written: list[str] = []
    inside = f'<g transform="translate({EDGE:g} {EDGE:g})">'
    for number, (line, indent) in enumerate(legend):
        y = EDGE + placement.height + LEGEND_GAP + LEGEND_LINE * (number + 0.78)
        written.append(_text(EDGE + indent, y, line, LABEL, colours, anchor="start"))
    svg = "\n".join([*lines, inside, *drawn, "</g>", *written, "</svg>"]) + "\n"
    return Picture(svg, width / POINTS, height / POINTS, PRINT)


class _Drawing:
    def __init__(self, sketch: Sketch, placement: Placement, numbers: dict[str, int], colours: Ink) -> None:
        self.sketch, self.placement = sketch, placement
        self.numbers, self.ink = numbers, colours

    def lines(self) -> Iterator[str]:
        for hop in placed_hops(self.sketch, self.placement):
            yield from self._hop(hop)
        for part, size, (x, y) in zip(self.sketch.parts, self.sketch.sizes, self.placement.centres, strict=True):
            yield from (
                self._label(part, size, x, y) if isinstance(part, CandidateLabel) else self._box(part, size, x, y)
            )

    def _hop(self, hop: Hop) -> Iterator[str]:
        parts = self.sketch.parts
        ends = parts[hop.source], None if hop.target is None else parts[hop.target]
        label = next((end for end in ends if isinstance(end, CandidateLabel)), None)
        dashed = any((hop.source, end) in self.sketch.dashed for end in hop.leads_to)
        if isinstance(ends[1], Box):  # the tip covers the end of the line
            x, y = hop.points[-1]
            yield f'<path d="M{length(x)} {length(y)}l-{TIP:g} -2.2v4.4z" fill="{self._colour(label)}"/>'
            hop = replace(hop, points=(*hop.points[:-2], *_before(hop.points[-2], x - TIP, y)))
        path = turning(hop, 5.0) if hop.turns else curve(hop)
        yield f'<path d="{path}" {self._stroke(label, dashed=dashed)}/>'

    def _label(self, label: CandidateLabel, size: VertexSize, x: float, y: float) -> Iterator[str]:
        half = size.width / 2
        yield f'<path d="M{length(x - half)} {length(y)}H{length(x + half)}" {self._stroke(label)}/>'
        yield self._text(x, y - (3.2 if label.bundles else 2.5), label.text, LABEL)

    def _box(self, box: Box, size: VertexSize, x: float, y: float) -> Iterator[str]:
        height = size.above + size.below
        is_node = box.kind in ("node", "input", "output")
        fill = self.ink.node if is_node else self.ink.operation
        corner = min(height / 2, 6.0) if is_node else 1.5
        place = frame(x - size.width / 2, y - size.above, size.width, height)
        stroke = f'stroke="{self.ink.line}" stroke-width="{1.2 if box.kind == "motif" else 0.7:g}"'
        yield f'<rect {place} rx="{length(corner)}" fill="{fill}" {stroke}/>'
        line = y - text_height(box) / 2
        for text, font in lines_of(box):
            room = NODE_LINE if font == NODE else LABEL_LINE
            subscript = box.subscript if font == NODE else ""
            yield _text(x, line + room * 0.78, text, font, self.ink, subscript=subscript)
            line += room

    def _colour(self, label: CandidateLabel | None) -> str:
        if label is None or label.plain or not self.ink.candidates:
            return self.ink.line
        return self.ink.candidates[self.numbers[label.colour] % len(self.ink.candidates)]

    def _stroke(self, label: CandidateLabel | None, *, dashed: bool = False) -> str:
        candidate_dashes = (
            strand_dash(self.numbers[label.colour]) if label and not label.plain and self.ink.candidates else ""
        )
        dashes = "3 2" if dashed or (label is not None and label.dashed) else candidate_dashes
        more = f' stroke-dasharray="{dashes}"' if dashes else ' stroke-linecap="round"'
        width = 1.8 if label is not None and label.bundles else 0.8 if label is None or label.plain else 1.2
        return f'fill="none" stroke="{self._colour(label)}" stroke-width="{width:g}"{more}'

    def _text(self, x: float, y: float, text: str, size: float) -> str:
        return _text(x, y, text, size, self.ink)


def _text(x: float, y: float, text: str, size: float, colours: Ink, anchor: str = "middle", subscript: str = "") -> str:
    place = f'x="{length(x)}" y="{length(y)}" font-size="{size:g}" text-anchor="{anchor}"'
    below = f'<tspan dy="2" font-size="{SUBSCRIPT:g}">{safe(subscript)}</tspan>' if subscript else ""
    return f"<text {place} fill={quoted(colours.text)}>{safe(text)}{below}</text>"


def _wrapped(entries: Iterable[str], room: float) -> list[tuple[str, float]]:
    """Entries in lines that fit, each with its indent: the first line of an entry has none."""
    lines: list[tuple[str, float]] = []
    for entry in entries:
        first, *rest = entry.split(", ")
        line, indent = first, 0.0
        for word in rest:
            if indent + width_of(f"{line}, {word},", LABEL) > room:
                lines.append((f"{line},", indent))
                line, indent = word, LEGEND_INDENT
            else:
                line += f", {word}"
        lines.append((line, indent))
    return lines


def _before(point: tuple[float, float], x: float, y: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The last points of a line that ends at `x`, level for a short distance."""
    return (min(point[0], x), point[1]), (x + 1, y)


def placed_hops(sketch: Sketch, placement: Placement) -> list[Hop]:
    """The hops of a sketch. They leave and enter boxes side by side instead of at one point."""
    hops = list(placement.hops)
    leaving: dict[int, list[int]] = {}
    entering: dict[int, list[int]] = {}
    for number, hop in enumerate(hops):
        if hop.turns:
            continue
        if isinstance(sketch.parts[hop.source], Box) and hop.starts:
            leaving.setdefault(hop.source, []).append(number)
        if hop.target is not None and isinstance(sketch.parts[hop.target], Box):
            entering.setdefault(hop.target, []).append(number)
    for groups, near, far, step in ((leaving, (0, 1), 2, LEAVING), (entering, (2, 3), 1, ARRIVING)):
        for numbers in groups.values():
            numbers.sort(key=lambda number: hops[number].points[far][1])
            for place, number in enumerate(numbers):
                shift = step * (place - (len(numbers) - 1) / 2)
                points = [(x, y + shift if i in near else y) for i, (x, y) in enumerate(hops[number].points)]
                hops[number] = replace(hops[number], points=tuple(points))
    return hops
