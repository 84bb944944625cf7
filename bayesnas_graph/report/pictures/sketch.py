"""A panel for a figure: boxes, and arrows with names.

In the result of a search, every candidate is an arrow. In a space, a choice is one thick arrow, labelled with the
number of its candidates, and a legend has their names. An arrow with a label is a vertex of the layout like a box, so
that nothing crosses the label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase

from bayesnas_graph.report.pictures.diagram import Box, DrawnChoice, Panel, Strand
from bayesnas_graph.report.pictures.geometry import Gaps, Placement, VertexSize, place
from bayesnas_graph.report.pictures.paper import in_paper_style
from bayesnas_graph.report.pictures.settings import settings_lines
from bayesnas_graph.report.pictures.words import text_width

COLUMN, PAGE = 238.0, 497.0  # widths in papers: 3.3 and 6.9 inches, in points
NODE, LABEL = 9.0, 8.0  # sizes of text, in points; the smallest readable in print
SUBSCRIPT = 6.5  # the size of text below and behind a title
NODE_LINE, LABEL_LINE = 11.0, 9.5
PADDING = 4.5
TIP = 4.0  # the length of an arrow's tip
ARRIVING, LEAVING = 4.2, 2.6  # distance between arrows that enter a box, and between lines that leave one
AIRY, TIGHT = Gaps(16.0, 4.0, 4.0, 18.0), Gaps(10.0, 4.0, 4.0, 18.0)
SERIFLESS = 0.9  # the width of the fonts of a figure, relative to the widest screen font


@dataclass(frozen=True)
class CandidateLabel:
    """A candidate between two nodes, or all candidates of a choice."""

    text: str
    colour: str  # the name of the candidate that determines its colour
    plain: bool  # only passes its input on
    dashed: bool
    bundles: bool = False  # whether it stands for several candidates


@dataclass(frozen=True)
class Sketch:
    """Boxes and labels, numbered together, and the edges between them."""

    parts: tuple[Box | CandidateLabel, ...]
    edges: tuple[tuple[int, int], ...]
    dashed: frozenset[tuple[int, int]]  # edges that may be off
    legend: tuple[str, ...] = ()  # the candidates of each bundle

    @cached_property
    def sizes(self) -> tuple[VertexSize, ...]:
        """The size of every part. A box is high enough for its arrows."""
        entering = Counter(target for _, target in self.edges)
        leaving = Counter(source for source, _ in self.edges)
        arrows = [max(entering[i] * ARRIVING, leaving[i] * LEAVING) + 4 for i in range(len(self.parts))]
        return tuple(_size(part, height) for part, height in zip(self.parts, arrows, strict=True))

    def placement(self) -> Placement:
        """Positions of all parts, within a column if possible, otherwise within a page."""
        sizes = self.sizes
        for limit in (COLUMN, PAGE):
            for gaps in (AIRY, TIGHT):
                placement = place(sizes, self.edges, limit, gaps)
                if placement.width <= limit:
                    return placement
        return placement  # wider than a page: accepted


def sketch_of(panel: Panel) -> Sketch:
    """The parts of a panel. An optional connection is an edge, not a part."""
    panel = in_paper_style(panel)
    parts: list[Box | CandidateLabel] = []
    numbers: dict[int, list[int]] = {}
    bundles = _Bundles.of(panel)
    vertices: list[Box | DrawnChoice] = [*panel.boxes, *(choice for choice in panel.choices if not choice.bare)]
    for vertex in sorted(vertices, key=lambda vertex: vertex.key):
        first = len(parts)
        parts += [vertex] if isinstance(vertex, Box) else bundles.labels(vertex)
        numbers[vertex.key] = list(range(first, len(parts)))
    bare = {choice.key: choice for choice in panel.choices if choice.bare}
    edges: dict[tuple[int, int], None] = {}
    dashed: set[tuple[int, int]] = set()
    for wire in panel.wires:
        if wire.target in bare:
            continue
        for source, optional in _sources(panel, wire.source, bare):
            for pair in ((start, end) for start in numbers[source] for end in numbers[wire.target]):
                edges[pair] = None
                dashed |= {pair} if optional else set()
    return Sketch(tuple(parts), tuple(edges), frozenset(dashed), bundles.legend)


def _sources(panel: Panel, key: int, bare: dict[int, DrawnChoice]) -> Iterator[tuple[int, bool]]:
    """The sources of a wire, and whether each connection is optional."""
    if key not in bare:
        yield key, False
        return
    for source in panel.sources(bare[key]):
        for origin, optional in _sources(panel, source, bare):
            yield origin, optional or not bare[key].is_decided


@dataclass(frozen=True)
class _Bundles:
    """The sets of candidates that are drawn as one arrow each."""

    sets: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(panel: Panel) -> _Bundles:
        texts = (tuple(label.text for label in _labels(choice)) for choice in panel.choices if _is_bundle(choice))
        return _Bundles(tuple(dict.fromkeys(texts)))

    def labels(self, choice: DrawnChoice) -> list[CandidateLabel]:
        """The arrows of a choice."""
        labels = list(_labels(choice))
        if not _is_bundle(choice):
            return labels
        texts = tuple(label.text for label in labels)
        count = len(labels) if choice.limit is None else f"{choice.limit} of {len(labels)}"
        name = self._name(texts)
        return [CandidateLabel(f"{count} ops{f' {name}' if name else ''}", "", True, choice.dashed, bundles=True)]

    @property
    def legend(self) -> tuple[str, ...]:
        """A line for every set."""
        return tuple(f"{self._name(texts) or f'{len(texts)} ops'}: {', '.join(texts)}" for texts in self.sets)

    def _name(self, texts: tuple[str, ...]) -> str:
        """A letter, or a number if there are many; empty if there is only one set."""
        number = self.sets.index(texts)
        many = len(self.sets) > len(ascii_uppercase)
        return "" if len(self.sets) == 1 else str(number + 1) if many else ascii_uppercase[number]


def _is_bundle(choice: DrawnChoice) -> bool:
    return not choice.bare and not choice.is_decided and sum(strand.depth == 0 for strand in choice.strands) > 1


def _labels(choice: DrawnChoice) -> Iterator[CandidateLabel]:
    """An arrow for every candidate; candidates of choices inside it follow in parentheses."""
    strands = choice.strands
    for index, strand in enumerate(strands):
        if strand.depth == 0:
            within = [other.label for other in _within(strands[index + 1 :])]
            limit = f"{strand.note}: " if strand.note else ""
            text = f"{strand.label} ({limit}{', '.join(within)})" if within else strand.label
            yield CandidateLabel(text, strand.label, strand.plain, choice.dashed)


def _within(strands: tuple[Strand, ...]) -> Iterator[Strand]:
    for strand in strands:
        if strand.depth == 0:
            return
        yield strand


def width_of(text: str, size: float) -> float:
    """The width of a text in a figure."""
    return text_width(text, size) * SERIFLESS


def lines_of(box: Box) -> list[tuple[str, float]]:
    """The texts of a box with their sizes: no flags, no arguments that differ from use to use, and no sums."""
    unsaid = {f"node {box.name}", "sum"} if box.kind in ("node", "output", "input") else {f"node {box.name}"}
    title = [(box.title, NODE)] if box.title else []
    settings = settings_lines(setting for setting in box.settings if setting.certain)
    return [*title, *((line, LABEL) for line in (*settings, *box.lines) if line not in unsaid)]


def text_height(box: Box) -> float:
    """The height of the texts of a box."""
    return sum(NODE_LINE if size == NODE else LABEL_LINE for _, size in lines_of(box))


def _size(part: Box | CandidateLabel, least: float) -> VertexSize:
    """The size of a part around the line that leads to it: a label is on its line."""
    if isinstance(part, CandidateLabel):
        width = width_of(part.text, LABEL) + 2
        return VertexSize(width, LABEL_LINE, 2.0, width)
    subscript = width_of(part.subscript, SUBSCRIPT)
    width = max([18.0, *(width_of(text, size) + subscript + 2 * PADDING for text, size in lines_of(part))])
    height = max(text_height(part) + 5, least)
    return VertexSize(width, height / 2, height / 2, width)
