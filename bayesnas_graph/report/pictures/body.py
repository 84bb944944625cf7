"""The body of a motif as a graph to draw: boxes, choices and wires."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import shape_text
from bayesnas_graph.language.elaborate.block import Block, Compute, Nested
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.report.pictures.choices import BlockChoice, choices_of
from bayesnas_graph.report.pictures.diagram import Box, DrawnChoice, Kind, Wire
from bayesnas_graph.report.pictures.runs import RepeatedUse, repeated_uses
from bayesnas_graph.report.pictures.words import definition_text, place_of, settings_lines

OUT = "out"  # the node of `x -> out`
MANY_BOXES = 12  # with this many, operations in a row share a box
LARGEST = 400  # boxes and choices of a panel that is still readable


@dataclass(frozen=True)
class PanelBody:
    """The contents of a panel."""

    boxes: tuple[Box, ...]
    choices: tuple[DrawnChoice, ...]
    wires: tuple[Wire, ...]

    @property
    def outline(self) -> object:
        """A value that is equal for bodies of the same structure, regardless of widths and sizes."""
        boxes = tuple((box.key, box.kind, box.title) for box in self.boxes)
        choices = tuple((c.key, tuple(s.label for s in c.strands), c.limit, c.least, c.optional) for c in self.choices)
        return boxes, choices, self.wires


@dataclass(frozen=True)
class Opened:
    """A block with a panel of its own."""

    title: str  # of its boxes
    panel: int
    inside: str = ""  # the inner use, if the block only passes its inputs on to it


def body_of(block: Block, opened: Callable[[Block], Opened | None]) -> PanelBody:
    """The body of a block. `opened` returns the panel of a block that has one."""
    return grouped(_Builder(block, opened).build())


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
        shown = opened.title if opened else nested.definition.name.name
        tip = f"{step.name}: {definition_text(nested)}\n{shapes}"
        if nested.choices:
            tip += f"\n{nested.choices} choices inside"
        caption = shapes if len(outputs) == 1 else ""
        opens = opened.panel if opened else None
        key = self._box(Box(-1, "motif", shown, lines, caption, tip, name, opens, (_place(step, opened),)))
        self._read(key, step.inputs)
        if len(outputs) == 1:
            self.vertices[outputs[0]] = key
            return
        for slot, output in enumerate(outputs):
            label = self._output_name(step, slot)
            shape = shape_text(nested.output_shapes[slot])
            pill = self._box(Box(-1, "node", label, (), shape, f"output {slot + 1} of {step.name}\n{shape}"))
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
        self.boxes[at] = replace(box, shape=shape_text(step.block.output_shapes[0]), steps=steps)

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
            box = Box(-1, "operation", label, (*settings_lines(step.op), *_lines(name)), shape, tip, name=name)
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
        boxes[head] = replace(first, title="", lines=tuple(lines), shape=last.shape, tip=tip, name=last.name)
    tails = {head: key for key, head in heads.items()}
    ends_at = {tails[head]: head for head in tails}
    wires = [
        replace(wire, source=ends_at.get(wire.source, wire.source)) for wire in body.wires if wire.target not in heads
    ]
    return PanelBody(tuple(boxes.values()), body.choices, tuple(wires))


def _line(box: Box) -> str:
    settings = [line for line in box.lines if line not in _lines(box.name)]
    return " ".join([box.title, ", ".join(settings)]).strip()
