"""Checks that all uses of a shared operation need the same weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import ModuleCall, Op, Shape, shape_text
from bayesnas_graph.language.elaborate.block import Block, Compute
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.limits import Meter
from bayesnas_graph.language.elaborate.values import Shared


@dataclass(frozen=True, slots=True)
class _Layer:
    """An operation with weights inside a shared operation."""

    name: str
    op: Op
    call: ModuleCall
    shapes: tuple[Shape, ...]  # of its inputs


@dataclass(frozen=True, slots=True)
class SharedUse:
    """One use of a shared operation: as a block, or as a single primitive."""

    expanded: Block | Op
    shapes: tuple[Shape, ...]  # of its inputs
    channels: tuple[Channels | None, ...]
    span: Span

    def layers(self) -> list[_Layer]:
        """Everything in it that has weights."""
        if isinstance(self.expanded, Block):
            return list(_layers(self.expanded, self.shapes, ""))
        call = self.expanded.torch(*self.shapes)
        return [_Layer("", self.expanded, call, self.shapes)] if isinstance(call, ModuleCall) else []

    @property
    def size(self) -> int:
        """The number of operations in it."""
        return self.expanded.nodes if isinstance(self.expanded, Block) else 1


class Agreement:
    """Compares every use of a shared operation with the first, and finds those that are never used."""

    def __init__(self, meter: Meter, report: Report) -> None:
        self._meter = meter
        self._report = report
        self._first: dict[Shared, SharedUse] = {}
        self._declared: list[Shared] = []

    def declare(self, shared: Iterable[Shared]) -> None:
        """Note the shared operations of a motif."""
        self._declared += shared

    def add(self, shared: Shared, use: SharedUse) -> None:
        """Note a use. Raises NasError if it needs other weights than the first."""
        first = self._first.setdefault(shared, use)
        if (first.expanded, first.shapes, first.channels) == (use.expanded, use.shapes, use.channels):
            return
        self._meter.step(use.span, first.size + use.size)
        reason = _difference(first, use)
        if reason is not None:
            reads = [", ".join(map(shape_text, one.shapes)) for one in (first, use)]
            label, other = Label(use.span, f"reads {reads[1]}"), Label(first.span, f"reads {reads[0]}")
            declared = Label(shared.definition.name.span, "declared here")
            message = f"the uses of `{shared.name}` need different weights: {reason}"
            help = "make the inputs alike in what the weights depend on, or use a `share` for each"
            self._report.fail(Diagnostic("NAS310", message, label, (other, declared), help))

    def report_unused(self) -> None:
        """Warn about shared operations that no expansion of their motif uses."""
        used = {shared.definition for shared in self._first}
        for definition in dict.fromkeys(shared.definition for shared in self._declared):
            if definition not in used:
                name = definition.name
                label = Label(name.span, "never used")
                help = "use it as an operation, `node y = x : " + name.name + "`, or remove it"
                message = f"the shared weights `{name.name}` are never used"
                self._report.add(Diagnostic("NAS311", message, label, help=help, severity="warning"))


def _difference(first: SharedUse, second: SharedUse) -> str | None:
    """Why two uses need different weights; None if they do not."""
    if first.channels != second.channels:
        return "the widths of their inputs are chosen differently"
    one, other = first.layers(), second.layers()
    if [layer.name for layer in one] != [layer.name for layer in other]:
        return "they consist of different operations"
    for before, after in zip(one, other, strict=True):
        if before.call.module != after.call.module:
            if before.shapes == after.shapes:
                return f"`{before.op}` in one is `{after.op}` in the other"
            shapes = [", ".join(map(shape_text, layer.shapes)) for layer in (before, after)]
            return f"`{before.op.label}` reads {shapes[0]} and {shapes[1]}"
    return None


def _layers(block: Block, inputs: tuple[Shape, ...], prefix: str) -> Iterator[_Layer]:
    values = list(inputs)
    for step in block.steps:
        shapes = tuple(values[i] for i in step.inputs)
        if isinstance(step, Compute):
            values.append(step.shape)
            call = step.op.torch(*shapes)
            if isinstance(call, ModuleCall):
                yield _Layer(prefix + step.name, step.op, call, shapes)
        else:
            values.extend(step.block.output_shapes)
            yield from _layers(step.block, shapes, f"{prefix}{step.name}.")
