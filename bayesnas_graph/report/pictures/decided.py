"""Prune a picture to the kept candidates.

Closed strands are removed, and everything that is no longer on a path from an input to an output. The uses of a
motif may have different outcomes: its panel is shown once for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import inner_name
from bayesnas_graph.ir.walks import reached
from bayesnas_graph.report.pictures.diagram import Box, Diagram, DrawnChoice, Panel, Strand, titled

MOST_OUTCOMES = 6  # panels of one motif
MOST_USES = 4  # listed in a note


def prune_panel(panel: Panel, kept: Set[str], closed: Set[int] = frozenset()) -> Panel:
    """A panel with only the candidates of these switches, whose names are relative to the motif.

    Boxes in `closed` pass nothing on. If no path remains, the panel is empty.
    """
    choices = [pruned for choice in panel.choices if (pruned := _left(choice, kept)) is not None]
    vertices = {box.key for box in panel.boxes} - closed | {choice.key for choice in choices}
    wires = [wire for wire in panel.wires if wire.source in vertices and wire.target in vertices]
    reading = {wire.target for wire in panel.wires}
    first = [box.key for box in panel.boxes if box.key in vertices - reading]
    last = [box.key for box in panel.boxes if box.kind == "output" and box.key in vertices]
    forward = _reached(first, [(wire.source, wire.target) for wire in wires])
    on_a_way = forward & _reached(last, [(wire.target, wire.source) for wire in wires])
    return replace(
        panel,
        boxes=tuple(box for box in panel.boxes if box.key in on_a_way),
        choices=tuple(choice for choice in choices if choice.key in on_a_way),
        wires=tuple(wire for wire in wires if wire.source in on_a_way and wire.target in on_a_way),
    )


def _left(choice: DrawnChoice, kept: Set[str]) -> DrawnChoice | None:
    if choice.gate and choice.gate not in kept:
        return None
    strands = tuple(_on(choice.strands, kept))
    return replace(choice, strands=strands, is_decided=True) if strands else None


def _on(strands: Sequence[Strand], kept: Set[str]) -> Iterator[Strand]:
    """The open strands: those that are on and have at least one open strand in every choice inside them."""
    for index, strand in enumerate(strands):
        if strand.depth > strands[0].depth or strand.gate not in kept:
            continue
        rest = strands[index + 1 :]
        end = next((i for i, other in enumerate(rest) if other.depth <= strand.depth), len(rest))
        within = tuple(_on(rest[:end], kept))
        if {other.choice for other in rest[:end] if other.depth == strand.depth + 1} <= {s.choice for s in within}:
            yield replace(strand, note="")
            yield from within


def _reached(start: Iterable[int], edges: Iterable[tuple[int, int]]) -> set[int]:
    after: dict[int, list[int]] = defaultdict(list)
    for source, target in edges:
        after[source].append(target)
    return reached(start, after.__getitem__)


def prune_diagram(diagram: Diagram, kept: Set[str]) -> Diagram:
    """A diagram with only the candidates of these switches, given by full names.

    If no path leads from an input of the network to an output, it has no panels.
    """
    outcomes = _outcomes(diagram, kept)
    numbers = {(o.panel, o.index): number for number, o in enumerate(o for o in outcomes if o.index < MOST_OUTCOMES)}
    ends = {(outcome.panel, use): outcome for outcome in outcomes for use in outcome.uses}
    narrower = any(_is_narrower(outcome.left, diagram.panels[outcome.panel]) for outcome in outcomes)
    panels = []
    for outcome in outcomes:
        if (outcome.panel, outcome.index) in numbers:
            boxes = tuple(_reopened(box, outcome, ends, numbers) for box in outcome.left.boxes)
            if narrower:
                boxes = tuple(replace(box, shape="") for box in boxes)
            pruned, whole = replace(outcome.left, boxes=boxes), diagram.panels[outcome.panel]
            panels.append(_described(pruned, whole, outcome, "" if narrower else "; shapes as in the first use"))
    gates = diagram.gates
    summary = f"{diagram.summary} · {len(gates & kept):,} of {counted(len(gates), 'candidate')} stay"
    return Diagram(diagram.title, summary, tuple(panels), tuple(diagram.colours))


@dataclass(frozen=True, eq=False)
class _Outcome:
    """The outcome of some uses of a motif."""

    panel: int
    index: int  # among the outcomes of its motif
    count: int  # number of outcomes of its motif
    hidden: int  # uses with outcomes that are not shown; set on the last outcome shown
    left: Panel
    uses: tuple[str, ...]
    names: tuple[str, ...]  # of the motifs with this outcome
    alone: bool  # whether all uses of these motifs have this outcome

    @property
    def suffix(self) -> str:
        return "" if self.alone else f" #{self.index + 1}"


def _outcomes(diagram: Diagram, kept: Set[str]) -> list[_Outcome]:
    """All outcomes, by panel and then by first use."""
    outcomes: list[_Outcome] = []
    left = uses_left(diagram, kept)
    for number, panel in enumerate(diagram.panels):
        by_panel: dict[Panel, list[str]] = {}
        for use in panel.uses:
            if (number, use) in left:
                by_panel.setdefault(left[number, use], []).append(use)
        named = dict(zip(panel.uses, panel.named, strict=True))
        names = [tuple(dict.fromkeys(named[use] for use in uses)) for uses in by_panel.values()]
        hidden = sum(map(len, list(by_panel.values())[MOST_OUTCOMES:]))
        for index, (pruned, uses) in enumerate(by_panel.items()):
            alone = not any(set(names[index]) & set(other) for i, other in enumerate(names) if i != index)
            more = hidden if index == MOST_OUTCOMES - 1 else 0
            outcomes.append(_Outcome(number, index, len(by_panel), more, pruned, tuple(uses), names[index], alone))
    return outcomes


def uses_left(diagram: Diagram, kept: Set[str]) -> dict[tuple[int, str], Panel]:
    """The pruned panel of every use that is still reached."""

    @cache
    def like(number: int, inside: frozenset[str], closed: frozenset[int]) -> Panel:
        return prune_panel(diagram.panels[number], inside, closed)

    @cache
    def left(number: int, use: str) -> Panel:
        panel = diagram.panels[number]
        inside = frozenset(gate for gate in panel.gates if inner_name(use, gate) in kept)
        closed = frozenset(box.key for box in panel.boxes if any(not left(*inner).boxes for inner in _inside(box, use)))
        return like(number, inside, closed)

    panels: dict[tuple[int, str], Panel] = {}
    in_boxes = {
        inner for panel in diagram.panels for use in panel.uses for box in panel.boxes for inner in _inside(box, use)
    }
    every = [(number, use) for number, panel in enumerate(diagram.panels) for use in panel.uses]
    waiting = [each for each in every if each not in in_boxes]  # the network, and uses in candidates
    while waiting:
        each = waiting.pop()
        panel = left(*each)
        if each not in panels and panel.boxes:
            panels[each] = panel
            waiting += [inner for box in panel.boxes for inner in _inside(box, each[1])]
    return panels if panels.keys() & {(0, use) for use in diagram.panels[0].uses} else {}


def _inside(box: Box, use: str) -> Iterator[tuple[int, str]]:
    """The panels that a box opens in one use of its motif, each with its own use."""
    if box.opens is not None:
        yield from ((box.opens, inner_name(use, step)) for step in box.steps)


def _reopened(
    box: Box, outcome: _Outcome, ends: dict[tuple[int, str], _Outcome], numbers: dict[tuple[int, int], int]
) -> Box:
    """A box that opens the panel of its outcome, or of the first outcome if its uses have several."""
    if box.opens is None:
        return box
    insides = {inner: ends[inner] for use in outcome.uses for inner in _inside(box, use) if inner in ends}
    outcomes = sorted({(end.panel, end.index): end for end in insides.values()}.items())
    opens = next((numbers[key] for key, _ in outcomes if key in numbers), None)
    if len(outcomes) == 1:
        return replace(box, opens=opens, title=f"{box.title}{outcomes[0][1].suffix}")
    return replace(box, opens=opens, lines=(*box.lines, f"{len(outcomes)} outcomes"))


def _is_narrower(pruned: Panel, whole: Panel) -> bool:
    """Return whether a concatenation lost inputs. Then the shapes after it change, and the panel cannot tell how."""
    before, after = (Counter(wire.target for wire in panel.wires) for panel in (whole, pruned))
    return any(box.stacks and after[box.key] < before[box.key] for box in pruned.boxes)


def _described(pruned: Panel, whole: Panel, outcome: _Outcome, shapes: str) -> Panel:
    notes = list(whole.notes[:1])
    if whole.gates:
        notes.append(f"{len(pruned.gates)} of {counted(len(whole.gates), 'candidate')} stay{shapes}")
    if outcome.count > 1:
        shown = ", ".join(outcome.uses[:MOST_USES])
        more = len(outcome.uses) - MOST_USES
        notes.append(f"in {shown}" + (f" and {more:,} more" if more > 0 else ""))
    if outcome.hidden:
        others = counted(outcome.count - MOST_OUTCOMES, "other outcome")
        uses = counted(outcome.hidden, "use")
        notes.append(f"not shown: {others}, of {uses}")
    named = dict(zip(whole.uses, whole.named, strict=True))
    return replace(
        pruned,
        title=titled(whole.role, outcome.names, whole.variant) + outcome.suffix,
        notes=tuple(notes),
        uses=outcome.uses,
        named=tuple(named[use] for use in outcome.uses),
    )
