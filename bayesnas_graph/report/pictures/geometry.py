"""Positions of the vertices of a panel: columns from left to right, wrapped into rows to fit the width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bayesnas_graph.report.pictures.layers import Layers, layered

PASSES = 24
STRAIGHT = (1, 2, 8)  # weight of keeping a wire level, by how many of its ends are bends
LEAST_ROW = 0.3  # of the width: the least that a new row must fill
LEAST_SPLIT = 0.5  # the same, where several wires lead on


@dataclass(frozen=True, slots=True)
class Gaps:
    """Free space between columns, between vertices of a column, around bends, between rows, and wires around them."""

    column: float = 28.0
    vertex: float = 14.0
    bend: float = 9.0
    row: float = 40.0
    lane: float = 8.0


SCREEN = Gaps()
TIGHT = Gaps(column=16.0)


@dataclass(frozen=True, slots=True)
class VertexSize:
    """The size of a vertex, above and below the height at which wires meet it."""

    width: float
    above: float
    below: float
    touch: float = 0.0  # the width of the part that wires lead to
    late: bool = False  # placed beside its reader, not beside its source


@dataclass(frozen=True, slots=True)
class Hop:
    """A piece of wire between neighbouring columns, or from the end of a row to the next."""

    source: int  # the vertex it comes from, possibly several columns away
    target: int | None  # None where it ends in a bend
    points: tuple[tuple[float, float], ...]
    leads_to: tuple[int, ...]  # the vertices that its wires finally reach
    turns: bool = False  # whether it leads into the next row
    starts: bool = True  # whether it starts at the vertex itself, not at a bend


@dataclass(frozen=True)
class Placement:
    """Centres of the vertices, where wires meet them, and the wires."""

    centres: tuple[tuple[float, float], ...]
    hops: tuple[Hop, ...]
    width: float
    height: float


def place(
    sizes: Sequence[VertexSize],
    edges: Sequence[tuple[int, int]],
    limit: float,
    gaps: Gaps = SCREEN,
    *,
    split: bool = False,
) -> Placement:
    """Arrange vertices within a width of `limit`, as far as the graph can be split into rows.

    Without `split`, a row ends only where a single wire leads on.
    """
    late = frozenset(i for i, size in enumerate(sizes) if size.late)
    layers = layered(len(sizes), edges, late)
    bend = VertexSize(0, gaps.bend / 2, gaps.bend / 2)
    all_sizes = [*sizes, *[bend] * (sum(map(len, layers.columns)) - len(sizes))]
    heights = _heights(layers, all_sizes, gaps)
    widths = [max(all_sizes[vertex].width for vertex in column) for column in layers.columns]
    rows = _rows(layers, widths, limit, gaps.column)
    if split:
        rows = [part for row in rows for part in _split(layers, widths, row, limit, gaps)]
    return _Drawn(layers, all_sizes, heights, widths, rows, gaps).placement()


def _rows(layers: Layers, widths: Sequence[float], limit: float, gap: float) -> list[range]:
    """The columns of each row. A row ends where a single wire leads on."""
    column = {vertex: number for number, vertices in enumerate(layers.columns) for vertex in vertices}
    crossing = [0] * len(widths)
    for source, _ in layers.hops:
        crossing[column[source]] += 1
    total = sum(widths) + gap * (len(widths) - 1)
    wanted = limit if total <= limit else total / -(-total // (limit - 2 * gap)) + gap
    rows, first, used = [], 0, 0.0
    for number, width in enumerate(widths):
        used += width + gap
        rest = sum(widths[number + 1 :])
        is_full = rest > LEAST_ROW * limit and used + widths[number + 1] > wanted
        if is_full and total > limit and crossing[number] == 1:
            rows.append(range(first, number + 1))
            first, used = number + 1, 0.0
    rows.append(range(first, len(widths)))
    return rows


def _split(layers: Layers, widths: Sequence[float], row: range, limit: float, gaps: Gaps) -> list[range]:
    """A row that is too wide as several rows, each ending where as few wires lead on as possible."""

    def width(columns: range) -> float:
        return sum(widths[number] + gaps.column for number in columns) - gaps.column

    wires = _leading_on(layers)
    margins = [2 * gaps.column + 2 * gaps.lane * (len(some) - 1) for some in wires]
    ends = [number for number in row[:-1] if width(range(row.start, number + 1)) + margins[number] <= limit]
    if width(row) + (margins[row.start - 1] if row.start else 0) <= limit or not ends:
        return [row]
    wanted = width(row) / -(-width(row) // (limit - 2 * gaps.column))
    far = [number for number in ends if width(range(row.start, number + 1)) >= LEAST_SPLIT * wanted] or ends[-1:]

    def fitness(number: int) -> tuple[int, float]:
        return len(wires[number]), abs(width(range(row.start, number + 1)) - wanted)

    end = min(far, key=fitness) + 1
    return [range(row.start, end), *_split(layers, widths, range(end, row.stop), limit, gaps)]


def _leading_on(layers: Layers) -> list[list[int]]:
    """For every column, the vertices and bends from which wires lead to the next, from top to bottom."""
    sources = {source for source, _ in layers.hops}
    return [[vertex for vertex in column if vertex in sources] for column in layers.columns]


def _heights(layers: Layers, sizes: Sequence[VertexSize], gaps: Gaps) -> list[float]:
    """The vertical position of each vertex: near the vertices it is connected to, without overlap."""
    neighbours: dict[int, list[tuple[int, int]]] = {vertex: [] for vertex in range(len(sizes))}
    for source, target in layers.hops:
        weight = STRAIGHT[(source >= layers.bends) + (target >= layers.bends)]
        neighbours[source].append((target, weight))
        neighbours[target].append((source, weight))
    heights = [0.0] * len(sizes)
    for column in layers.columns:
        for vertex, y in zip(column, _spread([0.0] * len(column), [sizes[v] for v in column], gaps), strict=True):
            heights[vertex] = y
    for number in range(PASSES):
        columns = layers.columns if number % 2 == 0 else reversed(layers.columns)
        for column in columns:
            wanted = []
            for vertex in column:
                total = sum(weight for _, weight in neighbours[vertex])
                near = sum(heights[other] * weight for other, weight in neighbours[vertex])
                wanted.append(near / total if total else heights[vertex])
            for vertex, y in zip(column, _spread(wanted, [sizes[v] for v in column], gaps), strict=True):
                heights[vertex] = y
    before = _only_before(layers)
    for column in layers.columns:  # make chains without branches perfectly level
        wanted = [heights[before.get(vertex, vertex)] for vertex in column]
        for vertex, y in zip(column, _spread(wanted, [sizes[v] for v in column], gaps), strict=True):
            heights[vertex] = y
    return heights


def _only_before(layers: Layers) -> dict[int, int]:
    """The predecessor of each vertex, if the hop between them is the only one for both."""
    leaving = Counter(source for source, _ in layers.hops)
    entering = Counter(target for _, target in layers.hops)
    return {
        target: source
        for source, target in layers.hops
        if leaving[source] == entering[target] == 1 and (source < layers.bends) == (target < layers.bends)
    }


def _spread(wanted: Sequence[float], sizes: Sequence[VertexSize], gaps: Gaps) -> list[float]:
    """The positions nearest to the wanted ones, in least squares, that keep the order and the distances.

    Without the distances this is isotonic regression: neighbours in conflict are pooled at their mean.
    """
    offsets = [0.0]
    for upper, lower in pairwise(sizes):
        gap = gaps.bend if not upper.width or not lower.width else gaps.vertex
        offsets.append(offsets[-1] + upper.below + gap + lower.above)
    pools: list[tuple[float, int]] = []
    for y, offset in zip(wanted, offsets, strict=True):
        mean, count = y - offset, 1
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean = (mean * count + other * size) / (count + size)
            count += size
        pools.append((mean, count))
    level = [mean for mean, count in pools for _ in range(count)]
    return [y + offset for y, offset in zip(level, offsets, strict=True)]


class _Drawn:
    def __init__(
        self,
        layers: Layers,
        sizes: Sequence[VertexSize],
        heights: Sequence[float],
        widths: Sequence[float],
        rows: Sequence[range],
        gaps: Gaps,
    ) -> None:
        self.layers, self.sizes, self.widths, self.gaps = layers, sizes, widths, gaps
        self.column = {vertex: n for n, vertices in enumerate(layers.columns) for vertex in vertices}
        self.row = {number: r for r, row in enumerate(rows) for number in row}
        leading_on = _leading_on(layers)
        turning = [leading_on[row[-1]] for row in rows[:-1]]
        # Wires that turn into the next row do so side by side: the lowest is the innermost.
        self.lane = {v: gaps.lane * i for wires in turning for i, v in enumerate(reversed(wires))}
        self.lanes = max(self.lane.values(), default=0.0)
        self.left: dict[int, float] = {}
        self.y: dict[int, float] = {}
        self.bottoms: list[float] = []
        self.width = 0.0
        top = 0.0
        indent = gaps.column + self.lanes if len(rows) > 1 else 0.0
        for row in rows:
            x = indent
            vertices = [vertex for number in row for vertex in layers.columns[number]]
            shift = top - min(heights[v] - sizes[v].above for v in vertices)
            for number in row:
                self.left[number] = x
                x += widths[number] + gaps.column
            for vertex in vertices:
                self.y[vertex] = heights[vertex] + shift
            self.width = max(self.width, x - gaps.column + indent)
            self.bottoms.append(max(self.y[v] + sizes[v].below for v in vertices))
            top = self.bottoms[-1] + gaps.row + max((self.lane.get(v, 0.0) for v in leading_on[row[-1]]), default=0.0)

    def placement(self) -> Placement:
        centres = tuple(
            (self.left[self.column[v]] + self.widths[self.column[v]] / 2, self.y[v]) for v in range(self.layers.bends)
        )
        origin, ends = self._origins(), self._ends()
        hops = tuple(self._hop(source, target, origin[source], ends[target]) for source, target in self.layers.hops)
        return Placement(centres, hops, self.width, self.bottoms[-1])

    def _hop(self, source: int, target: int, origin: int, ends: tuple[int, ...]) -> Hop:
        start, end = self.column[source], self.column[target]
        right = self.left[start] + self.widths[start]
        tip = None if target >= self.layers.bends else target
        begin = (self._side(source, 1), self.y[source])
        arrive = (self._side(target, -1), self.y[target])
        edges = (right, self.y[source]), (self.left[end], self.y[target])
        if self.row[start] == self.row[end]:
            return Hop(origin, tip, (begin, *edges, arrive), ends, starts=source == origin)
        lane = self.lane[source]
        middle = self.bottoms[self.row[start]] + self.gaps.row / 2 + lane
        outer = self.width - self.gaps.column / 2 - self.lanes + lane
        inner = self.gaps.column / 2 + lane
        around = ((outer, edges[0][1]), (outer, middle), (inner, middle), (inner, edges[1][1]))
        return Hop(origin, tip, (begin, *around, arrive), ends, turns=True, starts=source == origin)

    def _side(self, vertex: int, direction: int) -> float:
        """Where a wire meets a vertex; at a bend it runs on through the whole column."""
        number = self.column[vertex]
        middle = self.left[number] + self.widths[number] / 2
        if vertex >= self.layers.bends:
            return self.left[number] + self.widths[number]  # the hop into a column draws the line through it
        return middle + direction * self.sizes[vertex].touch / 2

    def _origins(self) -> dict[int, int]:
        """The vertex that each wire, followed back through its bends, comes from."""
        origin = {vertex: vertex for vertex in range(self.layers.bends)}
        for source, target in sorted(self.layers.hops, key=lambda hop: self.column[hop[0]]):
            if target >= self.layers.bends:
                origin[target] = origin[source]
        return origin

    def _ends(self) -> dict[int, tuple[int, ...]]:
        """The vertices that each vertex or bend leads to through bends alone; a vertex leads to itself."""
        ends: dict[int, tuple[int, ...]] = {vertex: (vertex,) for vertex in range(self.layers.bends)}
        for source, target in sorted(self.layers.hops, key=lambda hop: -self.column[hop[0]]):
            if source >= self.layers.bends:
                ends[source] = (*ends.get(source, ()), *ends[target])
        return ends
