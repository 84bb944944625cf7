"""The panels of a page: the network, and each motif with choices once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import inner_name
from bayesnas_graph.ir.walks import reached
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.block import Block, Compute, Nested
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.report.pictures.body import LARGEST, Opened, PanelBody, body_of, grouped, summarised, ungrouped_body
from bayesnas_graph.report.pictures.diagram import Diagram, Panel, numbered, titled
from bayesnas_graph.report.pictures.kernels import with_kernels
from bayesnas_graph.report.pictures.settings import merged_settings, settings_of_motif
from bayesnas_graph.report.pictures.succession import Distances, successive
from bayesnas_graph.report.pictures.words import place_of

LONGEST_TITLE = 60  # a call with more characters is written below the title
MOST_VARIANTS = 6  # panels of one motif, where its arguments change its structure
LARGEST_FIXED = 24  # boxes of a motif without choices that is still drawn
EMPTY = PanelBody((), (), ())


def diagram_of(network: Network) -> Diagram:
    """The panels of a network."""
    return _Collector(network).diagram()


@dataclass
class _Entry:
    """A panel and the blocks that it shows."""

    block: Block
    names: list[ast.Motif] = field(default_factory=list)  # definitions that look like this
    blocks: list[Block] = field(default_factory=list)
    variant: int = 1
    number: int = 0
    uses: list[tuple[str, str]] = field(default_factory=list)  # with the names of their motifs
    body: PanelBody = EMPTY  # built when all panels are known


class _Collector:
    def __init__(self, network: Network) -> None:
        self.network = network
        self.fixed = not network.block.choices
        self.forms: dict[Block, int | None] = {}  # a number for each form of each motif; None if it is not drawn
        self.numbers: dict[object, int] = {}
        self.entries: dict[int, _Entry] = {}
        self.known: dict[Block, _Entry | None] = {}
        self.counts: dict[Block, Counter[Block]] = {}
        self.rows: dict[Block, Distances] = {}  # cells that read the two before them
        self.variants: Counter[ast.Motif] = Counter()
        self.branching = _branching(network.block) if self.fixed else set()

    def diagram(self) -> Diagram:
        block = self.network.block
        self._enter(block)
        self.rows = successive(reached([block], _inside))
        for entry in self.entries.values():
            entry.body = self._in_a_row(entry, body_of([_unwrapped(block) for block in entry.blocks], self._opened))
        self._find_uses(block, "")
        panels = [self._panel(entry) for entry in self.entries.values()]
        definition = self.network.definition
        title, arguments = self.network.call_text, []
        if len(title) > LONGEST_TITLE:
            title, arguments = self.network.name, [self.network.arguments_text]
        parts = [
            place_of(definition.name.span),
            counted(block.nodes, "operation"),
            counted(block.choices, "choice") if block.choices else "no choices, a fixed network",
            *(f"require {budget}" for budget in self.network.budgets),
            *arguments,
        ]
        space = PurePath(definition.name.span.source.name).stem
        title = title if space == self.network.name else f"{space}: {title}"
        return with_kernels(Diagram(title, " · ".join(parts), tuple(panels)))

    def _enter(self, block: Block) -> None:
        """Add panels for a block and its nested blocks, unless an equal panel exists."""
        if block in self.known:
            return
        self.known[block] = None
        form = self._form(block)
        if form is None:
            return
        inner = _unwrapped(block)
        entry = self.entries.get(form)
        if entry is None:
            if self.variants[inner.definition] == MOST_VARIANTS:
                return
            self.variants[inner.definition] += 1
            earlier = sum(block.definition in other.names for other in self.entries.values())
            entry = self.entries[form] = _Entry(inner, variant=earlier + 1, number=len(self.entries))
        if block.definition not in entry.names:
            entry.names.append(block.definition)
        entry.blocks.append(block)
        self.known[block] = entry
        for step in inner.steps:
            if isinstance(step, Nested):
                self._enter(step.block)

    def _form(self, block: Block) -> int | None:
        """The number of the form of a block: blocks of one form look alike, and so do the blocks inside them."""
        if block not in self.forms:
            inner = _unwrapped(block)
            is_network = block is self.network.block
            self.forms[block] = None
            if is_network or self._worth_drawing(inner):
                body = ungrouped_body(inner, self._as_form)
                if is_network or not self.fixed or len(grouped(body).boxes) <= LARGEST_FIXED:
                    key = inner.definition, body.outline
                    self.forms[block] = self.numbers.setdefault(key, len(self.numbers))
        return self.forms[block]

    def _as_form(self, block: Block) -> Opened | None:
        form = self._form(block)
        return None if form is None else Opened(block.definition.name.name, form)

    def _in_a_row(self, entry: _Entry, body: PanelBody) -> PanelBody:
        """A body whose inputs know which cell before it computes them, if that is so in all uses."""
        distances = {self.rows.get(block) for block in entry.blocks}
        if len(distances) != 1 or not (backs := distances.pop()):
            return body
        inputs = [box.key for box in body.boxes if box.kind == "input"]
        back = dict(zip(inputs, backs, strict=True))
        return replace(body, boxes=tuple(replace(box, back=back.get(box.key, 0)) for box in body.boxes))

    def _find_uses(self, block: Block, place: str) -> None:
        """Record the uses of every panel in the graph."""
        for name in _passed(block):
            place = inner_name(place, name)
        entry, inner = self.known.get(block), _unwrapped(block)
        if entry is not None:
            entry.uses.append((place, block.definition.name.name))
        for step in inner.steps:
            if isinstance(step, Nested) and (self.fixed or step.block.choices):
                self._find_uses(step.block, inner_name(place, step.name))

    def _worth_drawing(self, block: Block) -> bool:
        if not self.fixed:
            return block.choices > 0
        return id(block.definition) in self.branching and len(block.steps) <= LARGEST

    def _opened(self, block: Block) -> Opened | None:
        """The panel for a block, if there is one."""
        entry = self.known.get(block)
        if entry is None:
            return None
        return Opened(numbered(block.definition.name.name, entry.variant), entry.number, ".".join(_passed(block)))

    def _panel(self, entry: _Entry) -> Panel:
        role, variant = entry.names[0].role, entry.variant
        title = titled(role, [name.name.name for name in entry.names], variant)
        notes = [self._about(entry)]
        if choices := entry.body.choices:
            switches = sum(len(choice.gates) for choice in choices)
            notes.append(
                f"{counted(len(choices), 'choice')}, {counted(switches, 'switch')}; shapes as in the first use"
            )
        body = entry.body
        if len(body.boxes) + len(body.choices) > LARGEST:
            notes.append(f"{counted(len(body.boxes), 'box')}: too many to draw")
            body = summarised(body)
        uses, named = tuple(use for use, _ in entry.uses), tuple(name for _, name in entry.uses)
        alias = entry.block.definition.name.name if entry.block.definition is not entry.names[0] else ""
        parts = body.boxes, body.choices, body.wires
        return Panel(title, tuple(notes), *parts, uses, named, role, alias, variant)

    def _distinguishing(self, entry: _Entry) -> list[str]:
        """The arguments that all uses in a panel share, and that are different in other panels of the motif."""
        others = [other for other in self.entries.values() if other.block.definition is entry.block.definition]
        if len(others) < 2:
            return []
        own, *rest = (
            merged_settings([settings_of_motif(_unwrapped(block)) for block in other.blocks])
            for other in sorted(others, key=lambda other: other is not entry)
        )
        return [
            str(setting)
            for i, setting in enumerate(own)
            if len(setting.values) == 1 and any(setting.values != other[i].values for other in rest)
        ]

    def _about(self, entry: _Entry) -> str:
        """A note for a panel: how often it is used, and whether its switches are shared."""
        definition = entry.names[0]
        inner = entry.block.definition
        alias = f"as {inner.name.name}, " if inner is not definition else ""
        where = ", ".join([place_of(inner.name.span), *self._distinguishing(entry)])
        if definition.role == "network":
            return f"{alias}{where}"
        uses = sum(self._uses(self.network.block)[block] for block in entry.blocks)
        often = "once" if uses == 1 else f"{uses:,} times"
        if len(entry.names) > 1:
            switches = ", but each has switches of its own" if entry.body.choices else ""
            return f"{alias}{where}, used {often}; they look alike{switches}"
        text = f"{alias}{where}, used {often}"
        if not entry.body.choices or uses == 1:
            return text
        if "cell" in (definition.role, inner.role):
            return f"{text}; all uses share their switches"
        if definition.role == "share":
            return f"{text}; all uses share their weights and switches"
        if all(block in self._in_cells() for block in entry.blocks):
            return f"{text}; all uses of the cell around it share their switches"
        if all(block in self._in_shared() for block in entry.blocks):
            return f"{text}; all uses of the shared operation around it share their switches"
        return f"{text}; each use has switches of its own"

    def _in_cells(self) -> set[Block]:
        """The blocks inside cells."""
        blocks = [self.network.block, *self._uses(self.network.block)]
        return {inner for block in blocks if block.definition.role == "cell" for inner in self._uses(block)}

    def _in_shared(self) -> set[Block]:
        """The blocks of shared operations, and those inside them."""
        blocks = [self.network.block, *self._uses(self.network.block)]
        steps = (step for block in blocks for step in block.steps)
        shared = {step.block for step in steps if isinstance(step, Nested) and step.shared is not None}
        return shared.union(*(self._uses(block) for block in shared))

    def _uses(self, block: Block) -> Counter[Block]:
        """How often each block is used within a block, at any depth."""
        if block not in self.counts:
            total: Counter[Block] = Counter()
            for step in block.steps:
                if not isinstance(step, Compute):
                    total[step.block] += 1
                    total.update(self._uses(step.block))
            self.counts[block] = total
        return self.counts[block]


def _branching(network: Block) -> set[int]:
    """The motifs that branch in one of their uses, and those that use them, by the id of their definition.

    Without them, a network without choices would be a single row of boxes.
    """
    users: dict[int, set[int]] = {}
    branching: set[int] = set()
    for block in reached([network], _inside):
        for inner in _inside(block):
            users.setdefault(id(inner.definition), set()).add(id(block.definition))
        sources = Counter(source for step in block.steps for source in step.inputs)
        if any(count > 1 for count in sources.values()):
            branching.add(id(block.definition))
    return reached(branching, lambda motif: users.get(motif, ()))


def _inside(block: Block) -> list[Block]:
    return [step.block for step in block.steps if isinstance(step, Nested)]


def _unwrapped(block: Block) -> Block:
    """A block, or the block that it only passes its inputs to."""
    while (inner := _wrapped(block)) is not None:
        block = inner.block
    return block


def _passed(block: Block) -> Iterator[str]:
    """The names of the nested uses that `_unwrapped` skips."""
    while (inner := _wrapped(block)) is not None:
        yield inner.name
        block = inner.block


def _wrapped(block: Block) -> Nested | None:
    """The only use in a block, if it has nothing else."""
    if len(block.steps) != 1 or not isinstance(step := block.steps[0], Nested):
        return None
    values = tuple(range(len(block.inputs)))
    outputs = tuple(len(values) + i for i in range(len(step.block.outputs)))
    return step if step.inputs == values and block.outputs == outputs else None
