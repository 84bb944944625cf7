"""Write the operations of a block as steps with their shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Gate, Op, Shape, ShapeError, TokenShape, named_shape, shape_text
from bayesnas_graph.ir.graph import Kind
from bayesnas_graph.ir.ops import Choice, Identity, Maybe
from bayesnas_graph.language.elaborate.agreement import SharedUse
from bayesnas_graph.language.elaborate.block import Block, Compute, Nested
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.expand_numbers import (
    expand_by_number,
    expand_repeated,
    masked,
    reading,
    with_shared_kernels,
)
from bayesnas_graph.language.elaborate.labels import Name, Names, distinct, label_of, numbered
from bayesnas_graph.language.elaborate.number_choices import NumberChoice, NumberOwner
from bayesnas_graph.language.elaborate.problems import count, different_shapes, wrong_inputs
from bayesnas_graph.language.elaborate.values import (
    ByNumber,
    MotifNode,
    Operation,
    Perhaps,
    Primitive,
    Repeated,
    Selection,
    Shared,
    Use,
)
from bayesnas_graph.language.elaborate.values import Sequence as Chain

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate.expand import Expander


class OperationWriter:
    """Writes operations as steps of one block, after its inputs."""

    def __init__(self, expander: Expander, shapes: tuple[Shape, ...], channels: tuple[Channels | None, ...]) -> None:
        self.expander = expander
        self.report = expander.report
        self.steps: list[Compute | Nested] = []
        self.shapes = list(shapes)  # of all values so far
        self.channels = list(channels)  # of all values so far, where their width is chosen
        self.masked: dict[tuple[int, tuple[str, ...]], int] = {}  # with zeros for absent channels
        self.masks: set[int] = set()  # the values of `masked`
        self.names = Names()
        self.behind: tuple[str, ...] = ()  # the gates of the candidates being expanded

    def apply(self, operation: Operation, inputs: list[int], name: Name, span: Span) -> list[int]:
        """Expand an operation under a name, or under its own label if that is empty; return its values."""
        named = name if name.id else name.inner(label_of(operation))
        match operation:
            case Primitive(op=Identity()) if len(inputs) == 1:
                return inputs
            case Primitive():
                return [self.primitive(operation, inputs, named)]
            case Use():
                return self._nested(self._block_of(operation, inputs), inputs, named, operation.span)
            case Chain():
                if name.id:
                    name = self.free(name)  # reserves `name.step` for its steps
                labels = numbered([label_of(step) for step in operation.steps])
                for label, step in zip(labels, operation.steps, strict=True):
                    inputs = self.apply(step, inputs, name.inner(label), span)
                return inputs
            case Selection():
                return [self._selection(operation, inputs, self.free(named), span)]
            case Perhaps():
                return [self._optional(operation, inputs, self.free(named), span)]
            case ByNumber():
                return [expand_by_number(self, operation, inputs, named, span)]
            case Repeated():
                return [expand_repeated(self, operation, inputs, named, span)]
            case Shared():
                return self._shared(operation, inputs, named, span)

    def _shared(self, shared: Shared, inputs: list[int], name: Name, span: Span) -> list[int]:
        """Expand a use of a shared operation: a primitive, a motif, or anything else as a block of its own."""
        shapes, channels = tuple(self.shapes[i] for i in inputs), tuple(self.channels[i] for i in inputs)
        operation = shared.operation
        if isinstance(operation, Primitive):
            values = self.apply(operation, inputs, name, span)
            if values != inputs:  # an identity has no step
                self.steps[-1] = replace(self.steps[-1], shared=shared)
            self.expander.agreement.add(shared, SharedUse(operation.op, shapes, channels, span))
            return values
        elastic = with_shared_kernels(self, operation) if isinstance(operation, ByNumber) else None
        if elastic is not None:
            first = len(self.steps)
            values = [expand_by_number(self, elastic, inputs, name, span)]
            kernels = [i for i, step in enumerate(self.steps) if i >= first and _has_centre(step)]
            for i in kernels:
                self.steps[i] = replace(self.steps[i], shared=shared)
                expanded = self.steps[i]
                assert isinstance(expanded, Compute), "it is a primitive"
                self.expander.agreement.add(shared, SharedUse(expanded.op, shapes, channels, span))
            return values
        if isinstance(operation, Use):
            block = self._block_of(operation, inputs)
        else:
            block = shared_block(self.expander, shared, shapes, channels)
        self.expander.agreement.add(shared, SharedUse(block, shapes, channels, span))
        return self._nested(block, inputs, name, span, shared)

    def _block_of(self, use: Use, inputs: list[int]) -> Block:
        shapes, channels = tuple(self.shapes[i] for i in inputs), tuple(self.channels[i] for i in inputs)
        return self.expander.block(use, shapes, use.span, channels)

    def _nested(
        self, block: Block, inputs: list[int], name: Name, span: Span, shared: Shared | None = None
    ) -> list[int]:
        self.steps.append(Nested(self.free(name), block, tuple(inputs), span, self.behind, shared))
        first = len(self.shapes)
        self.shapes.extend(block.output_shapes)
        self.channels.extend(block.output_channels)
        return list(range(first, len(self.shapes)))

    def free(self, name: Name) -> Name:
        """The name, numbered if it is taken."""
        return name.numbered(self.names.suffix(name.id))

    def primitive(self, operation: Primitive, inputs: list[int], name: Name, channels: Channels | None = None) -> int:
        """Expand a primitive; `channels` are those of its output if its width is chosen."""
        op = operation.op
        wanted = op.inputs
        if (wanted is None and not inputs) or (wanted is not None and wanted != len(inputs)):
            self.report.fail(wrong_inputs(op.label, wanted or 1, len(inputs), operation.span))
        shapes = [self.shapes[i] for i in inputs]
        try:
            *before, op = op.resolved(*shapes)
            for first in before:
                shape = first.shape(*shapes)
                inner, kept = self.free(name.inner(first.label)), reading(self, first, inputs, operation.span).output
                inputs = [self.compute(inner, first, inputs, shape, operation.span, channels=kept)]
                shapes = [shape]
            shape = op.shape(*shapes)
        except ShapeError as error:
            code = "NAS106" if op.is_python else "NAS201" if op.is_join else "NAS211"
            shown = "used here" if code == "NAS106" else f"input is {', '.join(map(shape_text, shapes))}"
            self.report.fail(Diagnostic(code, str(error), Label(operation.span, shown)))
        if op.is_python and not op.counts_all_flops(*shapes):
            message = f"the multiply-adds of `{op.label}` cannot be counted"
            help = "every number of multiply-adds of this network is a lower bound, also for `require flops`"
            label = Label(operation.span, "used here")
            self.report.add(Diagnostic("NAS108", message, label, help=help, severity="warning"))
        doubt = op.doubtful(*shapes)
        if doubt is not None:
            help = 'write `padding = "same"` to keep its size, or `padding = "valid"` for none'
            label = Label(operation.span, "no `padding` is given")
            self.report.add(Diagnostic("NAS217", doubt, label, help=help, severity="warning"))
        widths = reading(self, op, inputs, operation.span)
        name = self.free(name)
        if widths.mixes:
            inputs = [masked(self, value, name, operation.span) for value in inputs]
        return self.compute(name, op, inputs, shape, operation.span, channels=channels or widths.output)

    def _optional(self, optional: Perhaps, inputs: list[int], name: Name, span: Span) -> int:
        operation = optional.operation
        label = label_of(operation)
        inner = name.inner(label)
        if isinstance(operation, Selection):
            inner = replace(inner, target=name.target)  # `optional choose` is displayed as one choice
        gate = _gate(name.id, name, label, "optional", operation.span)
        value = self.behind_gate(gate, operation, inputs, inner, span)
        channels = self.channels[value]
        return self.compute(name, Maybe(), [value], self.shapes[value], optional.span, (gate,), channels)

    def _selection(self, selection: Selection, inputs: list[int], name: Name, span: Span) -> int:
        values = []
        gates = []
        for label, candidate in zip(distinct(selection.candidates, selection.names), selection.candidates, strict=True):
            inner = name.inner(label)
            gates.append(_gate(inner.id, name, label, "candidate", candidate.span))
            if isinstance(candidate, Perhaps):
                inner = inner.inner("inner")  # it has two switches, that of the choice and its own, with two names
            values.append(self.behind_gate(gates[-1], candidate, inputs, inner, span))
        shapes = [self.shapes[value] for value in values]
        if len(set(shapes)) > 1:
            labels = [
                Label(candidate.span, f"`{candidate}` gives {shape_text(shape)}")
                for candidate, shape in zip(selection.candidates, shapes, strict=True)
            ]
            message = "candidates of a choice have different shapes"
            self.report.fail(different_shapes("NAS209", message, "chosen here", selection.span, labels, shapes))
        channels = reading(self, Choice(), values, selection.span, "NAS209").output
        op = Choice(selection.limit, selection.least)
        return self.compute(name, op, values, shapes[0], selection.span, tuple(gates), channels)

    def behind_gate(self, gate: Gate, operation: Operation, inputs: list[int], name: Name, span: Span) -> int:
        """Expand the operation behind a gate; return its only value."""
        around, self.behind = self.behind, (*self.behind, gate.name)
        try:
            values = self.apply(operation, inputs, name, span)
        finally:
            self.behind = around
        return self.only_value(values, operation)

    def only_value(self, values: list[int], operation: Operation) -> int:
        """The value of an operation that must have one."""
        if len(values) != 1:
            message = f"`{operation}` has {count(len(values), 'output')}, expected one here"
            self.report.fail(Diagnostic("NAS210", message, Label(operation.span, "must have one output here")))
        return values[0]

    def compute(
        self,
        name: Name,
        op: Op,
        inputs: list[int],
        shape: Shape,
        span: Span,
        gates: tuple[Gate, ...] = (),
        channels: Channels | None = None,
        number: NumberChoice | None = None,
    ) -> int:
        """Add a step; `number` is the number that its gates belong to."""
        tokens = next((read for read in (self.shapes[i] for i in inputs) if isinstance(read, TokenShape)), None)
        if tokens is not None and not op.reads_tokens:
            help = "apply `embedding(count, width)` to tokens first"
            message = f"`{op.label}` needs numbers, got {named_shape(tokens)}"
            self.report.fail(Diagnostic("NAS211", message, Label(span, "reads tokens"), help=help))
        self.steps.append(Compute(name, op, tuple(inputs), shape, span, self.behind, gates, number))
        self.shapes.append(shape)
        self.channels.append(channels)
        return len(self.shapes) - 1


def shared_block(
    expander: Expander, shared: Shared, shapes: tuple[Shape, ...], channels: tuple[Channels | None, ...]
) -> Block:
    """The block of a shared operation."""
    writer = OperationWriter(expander, shapes, channels)
    names = ["x"] if len(shapes) == 1 else [f"x{i + 1}" for i in range(len(shapes))]
    inputs = [MotifNode(name, name, shared.span, shape) for name, shape in zip(names, shapes, strict=True)]
    outputs = writer.apply(shared.operation, list(range(len(shapes))), Name(), shared.operation.span)
    return Block(
        shared.definition,
        tuple(zip(inputs, shapes, strict=True)),
        tuple(writer.steps),
        tuple(outputs),
        tuple(writer.shapes[i] for i in outputs),
        tuple(writer.channels[i] for i in outputs),
        NumberOwner(),
    )


def _has_centre(step: Compute | Nested) -> bool:
    return isinstance(step, Compute) and step.op.has_centre


def _gate(id: str, choice: Name, label: str, kind: Kind, span: Span) -> Gate:
    """A gate of a motif: its ids are relative to the motif, and its part is set when the motif is used."""
    return Gate(id, id, choice.id, label, kind, target=choice.target, source=choice.source, span=span)
