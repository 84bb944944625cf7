"""The body of a motif as a graph to draw: boxes, choices and wires."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import shape_text
from bayesnas_graph.language.elaborate.block import Block, Compute, Nested
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.report.pictures.choices import BlockChoice, choices_of
from bayesnas_graph.report.pictures.diagram import Box, DrawnChoice, Kind, Wire
from bayesnas_graph.report.pictures.runs import RepeatedUse, repeated_uses
from bayesnas_graph.report.pictures.settings import merged_settings, settings_of, settings_of_motif
from bayesnas_graph.report.pictures.succession import inputs_of
from bayesnas_graph.report.pictures.words import definition_text, place_of, shortened

OUT = "out"  # the node of `x -> out`
MANY_BOXES = 12  # with this many, operations in a row share a box
LONGEST_TITLE, LONGEST_LINE = 32, 44  # characters
LARGEST = 400  # boxes and choices of a panel that is still readable


@dataclass(frozen=True)
class PanelBody:
    """The contents of a panel."""

    boxes: tuple[Box, ...]
    choices: tuple[DrawnChoice, ...]
    wires: tuple[Wire, ...]

    @property
    def outline(self) -> object:
        """A value that is equal for bodies of the same structure, regardless of arguments and shapes."""
        boxes = tuple((box.key, box.kind, box.title, box.opens, box.repeats) for box in self.boxes)
        choices = tuple((c.key, tuple(s.label for s in c.strands), c.limit, c.least, c.optional) for c in self.choices)
        return boxes, choices, self.wires


@dataclass(frozen=True)
class Opened:
    """A block with a panel of its own."""

    title: str  # of its boxes
    panel: int
    inside: str = ""  # the inner use, if the block only passes its inputs on to it


def body_of(blocks: Sequence[Block], opened: Callable[[Block], Opened | None]) -> PanelBody:
    """The body of blocks that look alike, as in the first, with the arguments of all of them.

    `opened` returns the panel of a block that has one.
    """
    bodies = [ungrouped_body(block, opened) for block in blocks]
    first = bodies[0]
    alike = [body for body in bodies if body.outline == first.outline]
    boxes = tuple(
        replace(same[0], settings=merged_settings([box.settings for box in same]))
        for same in zip(*(body.boxes for body in alike), strict=True)
    )
    choices = tuple(_merged(same) for same in zip(*(body.choices for body in alike), strict=True))
    return grouped(replace(first, boxes=boxes, choices=choices))


def _merged(alike: Sequence[DrawnChoice]) -> DrawnChoice:
    """The same choice in several uses, with the kernels of all of them."""
    strands = []
    for same in zip(*(choice.strands for choice in alike), strict=True):
        kernels = tuple(dict.fromkeys(kernel for strand in same for kernel in strand.kernels))
        strands.append(replace(same[0], kernels=kernels))
    return replace(alike[0], strands=tuple(strands))


def ungrouped_body(block: Block, opened: Callable[[Block], Opened | None]) -> PanelBody:
    """The body of one block, with a box for each of its operations."""
    return _Builder(block, opened).build()


class _Builder:
    def __init__(self, block: Block, opened: Callable[[Block], Opened | None]) -> None:
        self.block = block
        self.opened = opened
        self.block_choices = choices_of(block)
        self.readers = self._readers()
        self.repeated = repeated_uses(block, self.block_choices.inside, self.readers, opened)
        self.boxes: list[Box] = []
        self.choices: list[DrawnChoice] = []
        self.wires: Counter[tuple[int, int]] = Counter()
        self.vertices: dict[int, int] = {}  # value -> the vertex that produces it
        self.next = 0

    def build(self) -> PanelBody:
        for value, (node, shape) in enumerate(self.block.inputs):
            definition = self.block.definition
            tip = f"input {node.name}\n{shape_text(shape)}\n{place_of(definition.name.span)}"
            self.vertices[value] = self._box(Box(-1, "input", node.text, (), shape_text(shape), tip))
        value = len(self.block.inputs)
        for index, step in enumerate(self.block.steps):
            size = 1 if isinstance(step, Compute) else len(step.block.outputs)
            outputs = range(value, value + size)
            value += size
            if index in self.block_choices.inside or not any(self.readers[output] for output in outputs):
                continue
            if isinstance(step, Nested):
                self._motif(index, step, outputs)
            elif index in self.block_choices.by_step:
                self._choice(self.block_choices.by_step[index], outputs[0])
            else:
                self._primitive(step, outputs[0])
        self._outputs()
        wires = (Wire(source, target, count) for (source, target), count in self.wires.items())
        return PanelBody(tuple(self.boxes), tuple(self.choices), tuple(wires))

    # ---- steps

    def _motif(self, index: int, step: Nested, outputs: range) -> None:
        repeated = self.repeated.get(index)
        if repeated is not None and index != repeated.first:
            self._later(repeated, step, outputs[0])
            return
        nested = step.block
        shapes = ", ".join(map(shape_text, nested.output_shapes))
        opened = self.opened(nested)
        name = self._name(step, outputs) if repeated is None else ""
        lines = (repeated.text,) if repeated is not None else _lines(name)
        lines += _shared(step)
        shown = shortened(opened.title if opened else nested.definition.name.name, LONGEST_TITLE)
        tip = f"{step.name}: {definition_text(nested)}\n{shapes}"
        if nested.choices:
            tip += f"\n{nested.choices} choices inside"
        caption = shapes if len(outputs) == 1 else ""
        opens = opened.panel if opened else None
        box = Box(-1, "motif", shown, lines, caption, tip, name, opens, (_place(step, opened),))
        count = repeated.count if repeated is not None else 1
        key = self._box(replace(box, settings=settings_of_motif(nested), repeats=count))
        self._read(key, step.inputs)
        if len(outputs) == 1:
            self.vertices[outputs[0]] = key
            return
        reached = inputs_of(nested)
        for slot, output in enumerate(outputs):
            sources = tuple(self.vertices[step.inputs[number]] for number in sorted(reached[slot]))
            label = self._output_name(step, slot)
            shape = shape_text(nested.output_shapes[slot])
            pill = self._box(
                Box(-1, "node", label, (), shape, f"output {slot + 1} of {step.name}\n{shape}", sources=sources)
            )
            self.wires[key, pill] += 1
            self.vertices[output] = pill

    def _later(self, repeated: RepeatedUse, step: Nested, output: int) -> None:
        """Draw a later use of several in a row, which share the box of the first and show the shape of the last."""
        key = self.vertices[repeated.first_value]
        self.vertices[output] = key
        for source in step.inputs:
            if self.vertices[source] != key:
                self.wires[self.vertices[source], key] += 1
        at = next(i for i, box in enumerate(self.boxes) if box.key == key)
        box = self.boxes[at]
        steps = *box.steps, _place(step, self.opened(step.block))
        settings = merged_settings([box.settings, settings_of_motif(step.block)])
        shape = shape_text(step.block.output_shapes[0])
        self.boxes[at] = replace(box, shape=shape, steps=steps, settings=settings)

    def _choice(self, choice: BlockChoice, output: int) -> None:
        step = choice.step
        words = ["optional"] * choice.optional + ["choose"] * (not choice.optional or bool(choice.gate))
        words += ["exactly"] * bool(choice.least) + ([] if choice.limit is None else [str(choice.limit)])
        tip = f"{step.name}: {' '.join(words)}\n{shape_text(step.shape)}\n{place_of(step.span)}"
        key = self._number()
        gate = choice.gate
        more = f"\nswitch {step.called.target}: optional" if gate else ""
        drawn = DrawnChoice(key, choice.strands, choice.limit, choice.optional, gate, tip + more, least=choice.least)
        self.choices.append(drawn)
        self._read(key, choice.sources)
        if step.called.is_node or len(self.readers[output]) > 1:
            shape = shape_text(step.shape)
            pill = self._box(Box(-1, "node", step.called.text, (), shape, tip))
            self.wires[key, pill] += 1
            key = pill
        self.vertices[output] = key

    def _primitive(self, step: Compute, output: int) -> None:
        shape = shape_text(step.shape)
        tip = f"{step.name}: {step.op}\n{shape}\n{place_of(step.span)}"
        label = step.op.label
        if step.op.is_join:
            is_unnamed = not step.called.is_node or step.called.text == OUT
            is_output = self.readers[output] == [None] and is_unnamed and len(self.block.outputs) == 1
            name = OUT if is_output else step.called.node or step.called.text
            lines = () if is_unnamed and not is_output else (label,)
            kind: Kind = "output" if is_output else "node"
            box = Box(-1, kind, name, lines, shape, tip, stacks=step.op.concatenates)
        else:
            name = self._name(step, range(output, output + 1))
            title, settings = shortened(label, LONGEST_TITLE), settings_of(step.op)
            marks = _lines(name) + _shared(step)
            box = Box(-1, "operation", title, marks, shape, tip, name=name, settings=settings)
        key = self._box(box)
        self._read(key, step.inputs)
        self.vertices[output] = key

    def _outputs(self) -> None:
        kinds = {box.key: box.kind for box in self.boxes}
        for number, value in enumerate(self.block.outputs):
            source = self.vertices[value]
            if kinds.get(source) == "output":
                continue  # the node is called `out` itself
            title = "out" if len(self.block.outputs) == 1 else f"out {number + 1}"
            shape = shape_text(self.block.output_shapes[number])
            key = self._box(Box(-1, "output", title, (), shape, f"output\n{shape}"))
            self.wires[source, key] += 1

    # ---- help

    def _readers(self) -> dict[int, list[int | None]]:
        """The readers of each value: steps outside candidates, and None for an output of the motif."""
        values = len(self.block_choices.producers)
        readers: dict[int, list[int | None]] = {value: [] for value in range(values)}
        for value in self.block.outputs:
            readers[value].append(None)
        first = values
        for index in reversed(range(len(self.block.steps))):
            step = self.block.steps[index]
            first -= 1 if isinstance(step, Compute) else len(step.block.outputs)
            size = 1 if isinstance(step, Compute) else len(step.block.outputs)
            if index in self.block_choices.inside or not any(readers[first + i] for i in range(size)):
                continue
            choice = self.block_choices.by_step.get(index)
            for value in dict.fromkeys(choice.sources if choice else step.inputs):
                readers[value].append(index)
        return readers

    def _name(self, step: Compute | Nested, outputs: range) -> str:
        """The name of the node that holds a result, if the text declares one and this is its last step."""
        node = step.called.node
        if len(outputs) > 1 or node == OUT:
            return ""
        readers = [self.block.steps[reader] for reader in self.readers[outputs[0]] if reader is not None]
        return "" if any(reader.called.node == node for reader in readers) else node

    def _output_name(self, step: Nested, slot: int) -> str:
        for names in _declared(self.block.definition.body):
            if names[0] == step.name and slot < len(names):
                return names[slot]
        return f"{step.called.text}, {slot + 1}"

    def _read(self, key: int, values: tuple[int, ...]) -> None:
        for value in values:
            self.wires[self.vertices[value], key] += 1

    def _box(self, box: Box) -> int:
        self.boxes.append(replace(box, key=self._number()))
        return self.next - 1

    def _number(self) -> int:
        self.next += 1
        return self.next - 1


def _place(step: Nested, opened: Opened | None) -> str:
    return f"{step.name}.{opened.inside}" if opened and opened.inside else step.name


def _lines(name: str) -> tuple[str, ...]:
    return (f"node {name}",) if name else ()


def _shared(step: Compute | Nested) -> tuple[str, ...]:
    """The line that marks a use of shared weights."""
    return (f"shared: {step.shared.name}",) if step.shared is not None else ()


def _declared(block: ast.StatementBlock) -> Iterator[list[str]]:
    """The names in each declaration of nodes, including loops and branches."""
    for statement in block.statements:
        match statement:
            case ast.NodeDeclaration():
                yield [slot.name.name for slot in statement.slots]
            case ast.For():
                yield from _declared(statement.body)
            case ast.If():
                yield from _in_branches(statement)


def _in_branches(statement: ast.If) -> Iterator[list[str]]:
    yield from _declared(statement.yes)
    if isinstance(statement.no, ast.If):
        yield from _in_branches(statement.no)
    elif statement.no is not None:
        yield from _declared(statement.no)


def summarised(body: PanelBody) -> PanelBody:
    """Inputs, outputs, and one box for everything in between."""
    ends = [box for box in body.boxes if box.kind in ("input", "output")]
    text = counted(len(body.boxes) - len(ends), "box"), counted(len(body.choices), "choice")
    middle = Box(max(box.key for box in body.boxes) + len(body.choices) + 1, "motif", "…", text)
    wires = [Wire(end.key, middle.key) if end.kind == "input" else Wire(middle.key, end.key) for end in ends]
    return PanelBody((*ends, middle), (), tuple(wires))


def grouped(body: PanelBody) -> PanelBody:
    """Merge operations in a row into one box if there are many boxes."""
    if len(body.boxes) <= MANY_BOXES:
        return body
    boxes = {box.key: box for box in body.boxes}
    into = Counter(wire.target for wire in body.wires)
    from_ = Counter(wire.source for wire in body.wires)
    heads: dict[int, int] = {}
    for wire in sorted(body.wires, key=lambda wire: wire.target):
        ends = boxes.get(wire.source), boxes.get(wire.target)
        alike = all(box is not None and box.kind == "operation" for box in ends)
        if alike and into[wire.target] == 1 and from_[wire.source] == 1:
            heads[wire.target] = heads.get(wire.source, wire.source)
    rows: dict[int, list[Box]] = {}
    for key, head in heads.items():
        rows.setdefault(head, []).append(boxes.pop(key))
    for head, row in rows.items():
        first, last = boxes[head], row[-1]
        lines = [_line(first), *(line for box in row for line in (_line(box), *_lines(box.name)))]
        tip = "\n".join([first.tip, *(box.tip for box in row)])
        boxes[head] = replace(
            first, title="", lines=tuple(lines), shape=last.shape, tip=tip, name=last.name, settings=()
        )
    tails = {head: key for key, head in heads.items()}
    ends_at = {tails[head]: head for head in tails}
    wires = [
        replace(wire, source=ends_at.get(wire.source, wire.source)) for wire in body.wires if wire.target not in heads
    ]
    return PanelBody(tuple(boxes.values()), body.choices, tuple(wires))


def _line(box: Box) -> str:
    settings = ", ".join(str(setting) for setting in box.settings if setting.shown)
    return shortened(f"{box.title} {settings}".strip(), LONGEST_LINE)
