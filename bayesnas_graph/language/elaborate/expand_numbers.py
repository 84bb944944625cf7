"""Expand operations with chosen numbers: widths, depths, and any other argument.

A width is a prefix of the channels of the widest operation. A depth is the number of blocks whose result is used. For
any other number there is one operation for each option. In each case exactly one of several values is kept, and all of
these choices have the same switches: those of the number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Gate, Op, Shape, ShapeError, shape_text
from bayesnas_graph.ir.ops import Choice, First, Width, centred
from bayesnas_graph.language.elaborate.channels import (
    WIDEST,
    Channels,
    Presence,
    Reading,
    chosen_channels,
    numbers_in,
    read,
    width_with,
)
from bayesnas_graph.language.elaborate.labels import Name, label_of, numbered
from bayesnas_graph.language.elaborate.number_choices import NumberChoice
from bayesnas_graph.language.elaborate.problems import different_shapes
from bayesnas_graph.language.elaborate.values import ByNumber, Operation, Primitive, Repeated

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate.operation_writer import OperationWriter


def expand_by_number(writer: OperationWriter, operation: ByNumber, inputs: list[int], name: Name, span: Span) -> int:
    """An operation with a chosen argument."""
    widest = _widest(writer, operation, inputs)
    if widest is not None:
        return _with_width(writer, operation, widest, inputs, name)
    choice, values, gates = operation.choice, [], []
    around = writer.free(name)
    if all(_mixes(writer, candidate, inputs) for candidate in operation.operations):
        inputs = [masked(writer, value, around, operation.span) for value in inputs]  # once, not for each option
    for option, candidate in enumerate(operation.operations):
        inner = around.inner(f"{label_of(candidate)}_{choice.label(option)}")
        gates.append(number_gate(around, inner.id, choice, option))
        values.append(writer.behind_gate(gates[-1], candidate, inputs, inner, span))
    return _one_of(writer, around, choice, values, gates, operation)


def with_shared_kernels(writer: OperationWriter, operation: ByNumber) -> ByNumber | None:
    """A convolution with a chosen kernel, of which all options share their weights; None if it is anything else."""
    leaves = list(_leaves(operation))
    primitives = [leaf for leaf in leaves if isinstance(leaf, Primitive)]
    if len(primitives) < len(leaves):
        return None
    try:
        ops = centred(leaf.op for leaf in primitives)
    except ShapeError as error:
        help = "choose between odd numbers, or use the operation without `share`"
        label = Label(operation.choice.span, f"`{operation.choice.name}` is chosen here")
        writer.report.fail(Diagnostic("NAS312", str(error), Label(operation.span, "shared here"), (label,), help))
    if ops is None:
        return None
    next_ops = iter(ops)

    def rebuilt(inner: Operation) -> Operation:
        if isinstance(inner, ByNumber):
            return replace(inner, operations=tuple(map(rebuilt, inner.operations)))
        return replace(inner, op=next(next_ops)) if isinstance(inner, Primitive) else inner

    return replace(operation, operations=tuple(map(rebuilt, operation.operations)))


def _leaves(operation: Operation) -> Iterator[Operation]:
    if isinstance(operation, ByNumber):
        for inner in operation.operations:
            yield from _leaves(inner)
    else:
        yield operation


def expand_repeated(writer: OperationWriter, operation: Repeated, inputs: list[int], name: Name, span: Span) -> int:
    """An operation repeated a chosen number of times: all blocks, and one of their results."""
    choice, times = operation.times.choice, [int(value) for value in operation.times.values]
    writer.expander.evaluator.meter.ahead(max(times), operation.span)
    around = writer.free(name)
    results = [writer.only_value(inputs, operation.operation)]
    for label in numbered([label_of(operation.operation)] * max(times)):
        values = writer.apply(operation.operation, [results[-1]], around.inner(label), span)
        results.append(writer.only_value(values, operation.operation))
    gates = [number_gate(around, f"{around.id}.{choice.label(i)}", choice, i) for i in range(len(choice))]
    return _one_of(writer, around, choice, [results[count] for count in times], gates, operation)


def reading(writer: OperationWriter, op: Op, inputs: Sequence[int], span: Span, code: str = "NAS216") -> Reading:
    """How an operation reads values whose widths are chosen."""
    shapes, channels = [writer.shapes[i] for i in inputs], [writer.channels[i] for i in inputs]
    if not any(channels):
        return Reading(None, mixes=False)
    try:
        return read(op, shapes, channels)
    except ShapeError as error:
        labels = tuple(Label(n.span, f"`{n.name}` is chosen here") for n in numbers_in(channels)[:3])
        if op.is_join:
            help = "all must have the same width, whatever is chosen"
            writer.report.fail(Diagnostic(code, str(error), Label(span, "joins chosen widths"), labels, help))
        help = "use an operation that works on each channel alone, or a convolution without groups"
        writer.report.fail(Diagnostic(code, str(error), Label(span, "reads a chosen width"), labels, help))


def masked(writer: OperationWriter, value: int, name: Name, span: Span) -> int:
    """A value with zeros for its absent channels."""
    channels = writer.channels[value]
    if channels is None or value in writer.masks:
        return value
    key = value, writer.behind
    if key not in writer.masked:
        result = value
        for choice, start, stop, widths in _segments(channels):
            result = _mask(writer, choice, (start, stop, widths), result, writer.free(name.inner("width")), span)
        writer.masked[key] = result
        writer.masks.add(result)
    return writer.masked[key]


def _mixes(writer: OperationWriter, operation: Operation, inputs: list[int]) -> bool:
    """Whether an operation reads values whose absent channels must be zero."""
    if isinstance(operation, ByNumber):
        return all(_mixes(writer, candidate, inputs) for candidate in operation.operations)
    return isinstance(operation, Primitive) and reading(writer, operation.op, inputs, operation.span).mixes


def number_gate(around: Name, id: str, choice: NumberChoice, option: int) -> Gate:
    """The gate of an option. Its group is completed when the motif is used: see `flatten`."""
    text = choice.text(option)
    return Gate(id, f"{choice.name}={text}", around.id, text, target=choice.name, span=choice.span, number=choice.name)


def _mask(
    writer: OperationWriter,
    choice: NumberChoice,
    segment: tuple[int, int, list[int]],
    value: int,
    name: Name,
    span: Span,
) -> int:
    """The choice between prefixes of some channels of a value."""
    start, stop, widths = segment
    shape = writer.shapes[value]
    values, gates = [], []
    for option, width in enumerate(widths):
        inner = name.inner(f"first_{choice.label(option)}")
        gates.append(number_gate(name, inner.id, choice, option))
        if width == stop - start:
            values.append(value)
            continue
        first = First(width, start, None if stop == shape[0] else stop)
        behind, writer.behind = writer.behind, (*writer.behind, inner.id)
        values.append(writer.compute(inner, first, [value], shape, span, channels=writer.channels[value]))
        writer.behind = behind
    return writer.compute(
        name, Width(1, 1), values, shape, span, tuple(gates), channels=writer.channels[value], number=choice
    )


def _segments(channels: Channels) -> Iterator[tuple[NumberChoice, int, int, list[int]]]:
    """The ranges of channels that depend on one number, with the number of channels for each option.

    In a range there are fewer and fewer options with which a channel is there: it starts with those that always are.
    """
    ranges: list[tuple[int, list[tuple[int, Presence | None]]]] = []
    position = 0
    last: Presence | None = None
    for count, run in channels:
        continues = run is not None and (last is None or (run.choice == last.choice and run.options < last.options))
        if not ranges or not continues:
            ranges.append((position, []))
        ranges[-1][1].append((count, run))
        position, last = position + count, run
    for start, runs in ranges:
        for choice in numbers_in([tuple(runs)]):
            widths = [width_with(tuple(runs), choice, option) for option in range(len(choice))]
            yield choice, start, start + sum(count for count, _ in runs), widths


def _widest(writer: OperationWriter, operation: ByNumber, inputs: list[int]) -> int | None:
    """The option with most channels, if the operations differ only in their width."""
    ops = [candidate.op for candidate in operation.operations if isinstance(candidate, Primitive)]
    if len(ops) < len(operation.operations) or len({type(op) for op in ops}) > 1 or len(inputs) != ops[0].inputs:
        return None
    shapes = [writer.shapes[i] for i in inputs]
    try:
        outputs = [op.shape(*shapes) for op in ops]
    except ShapeError:
        return None  # reported where the operation is expanded
    widths = [shape[0] for shape in outputs]
    widest = max(range(len(widths)), key=widths.__getitem__)
    if len(set(widths)) == 1 or len({shape[1:] for shape in outputs}) > 1:
        return None
    if widths[widest] > WIDEST:
        message = f"a width can be chosen up to {WIDEST:,} channels"
        writer.report.fail(Diagnostic("NAS405", message, Label(operation.span, f"up to {widths[widest]:,}")))
    everything = tuple((True,) * min(shape[0], WIDEST) for shape in shapes)
    narrower = (ops[widest].narrowed(everything, tuple(i < width for i in range(widths[widest]))) for width in widths)
    return widest if all(op == other for op, other in zip(ops, narrower, strict=True)) else None


def _with_width(writer: OperationWriter, operation: ByNumber, widest: int, inputs: list[int], name: Name) -> int:
    """The widest of operations that differ in their width only."""
    chosen = operation.operations[widest]
    assert isinstance(chosen, Primitive), "checked before"
    shapes = [writer.shapes[i] for i in inputs]
    if any(link.tied and (link.inputs, link.outputs) != (1, 1) for link in chosen.op.coupling(*shapes).links):
        message = f"the width of `{chosen.op.label}` cannot be chosen, because it has groups"
        label = Label(operation.choice.span, f"`{operation.choice.name}` is chosen here")
        writer.report.fail(Diagnostic("NAS216", message, Label(operation.span, "has groups"), (label,)))
    widths = []
    for option, candidate in enumerate(operation.operations):
        assert isinstance(candidate, Primitive), "checked before"
        widths.append(candidate.op.shape(*shapes)[0])
        _check_option(writer, candidate.op, inputs, operation, option)
    return writer.primitive(chosen, inputs, name, chosen_channels(operation.choice, widths))


def _check_option(writer: OperationWriter, op: Op, inputs: list[int], operation: ByNumber, option: int) -> None:
    """With an option, the operation must accept its inputs as they are then."""
    choice = operation.choice
    shapes: list[Shape] = []
    for i in inputs:
        channels = writer.channels[i]
        width = writer.shapes[i][0] if channels is None else width_with(channels, choice, option)
        shapes.append((width, *writer.shapes[i][1:]))
    try:
        op.shape(*shapes)
    except ShapeError as error:
        label = Label(operation.span, f"input is {', '.join(map(shape_text, shapes))}")
        message = f"{error} with `{choice.name} = {choice.options[option]}`"
        writer.report.fail(Diagnostic("NAS211", message, label))


def _one_of(
    writer: OperationWriter,
    name: Name,
    choice: NumberChoice,
    values: list[int],
    gates: list[Gate],
    operation: ByNumber | Repeated,
) -> int:
    """Exactly one of several values, according to a number."""
    shapes = [writer.shapes[value] for value in values]
    channels = [writer.channels[value] for value in values]
    if len(set(shapes)) > 1 or len(set(channels)) > 1:
        labels = [
            Label(choice.span, f"{option} gives {shape_text(shape)}")
            for option, shape in zip(choice.options, shapes, strict=True)
        ]
        message = f"the shape depends on the choice of `{choice.name}`"
        diagnostic = different_shapes("NAS209", message, "used here", operation.span, labels, shapes)
        help = "only the width of a convolution or a linear layer can be chosen; sizes must stay the same"
        writer.report.fail(replace(diagnostic, help=help))
    return writer.compute(
        name, Choice(1, 1), values, shapes[0], operation.span, tuple(gates), channels=channels[0], number=choice
    )
