"""Write the block of a motif: its operations in graph order, with their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.ir import Op, Shape, ShapeError, shape_text
from bayesnas_graph.ir.ops import Sum
from bayesnas_graph.language.elaborate.block import (
    Block,
    BlockConstraint,
    BlockEdge,
    UnfinishedBlock,
    closable,
    gated,
)
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.constraints import ConstraintFinder, ExpandedEdge
from bayesnas_graph.language.elaborate.expand_numbers import reading
from bayesnas_graph.language.elaborate.labels import Name, edge_name, node_name
from bayesnas_graph.language.elaborate.limits import LimitReached
from bayesnas_graph.language.elaborate.operation_writer import OperationWriter
from bayesnas_graph.language.elaborate.problems import count, different_shapes
from bayesnas_graph.language.elaborate.structure import nodes_in_order
from bayesnas_graph.language.elaborate.values import MotifNode, Primitive, Use
from bayesnas_graph.language.elaborate.values import Sequence as Chain
from bayesnas_graph.language.elaborate.wiring import Application, Wiring

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate.expand import Expander


class BlockWriter:
    """Writes the block of a motif: its nodes in graph order."""

    def __init__(
        self, expander: Expander, wiring: Wiring, shapes: tuple[Shape, ...], channels: tuple[Channels | None, ...]
    ) -> None:
        self.expander = expander
        self.report = expander.report
        self.wiring = wiring
        self.inputs = shapes
        self.operations = OperationWriter(expander, shapes, channels)
        self.edges: list[ExpandedEdge] = []  # if the motif has requirements
        self.spans: dict[Application, tuple[int, int, int]] = {}  # its first step, its last step, its first value

    def write(self, use: Use) -> Block:
        """The block of this use of the motif. Raises NasError if the motif has problems."""
        wiring, shapes, written = self.wiring, self.inputs, self.operations
        values: dict[MotifNode, int | None] = {node: i for i, node in enumerate(wiring.inputs) if i < len(shapes)}
        incoming: dict[MotifNode, list[Application]] = {node: [] for node in wiring.nodes}
        for application in wiring.applications:
            for node in application.outputs:
                if node in incoming:
                    incoming[node].append(application)
        results_of: dict[Application, list[int] | None] = {}
        problems: list[Diagnostic] = []
        for node in nodes_in_order(wiring):
            try:
                values[node] = self._value(node, incoming[node], values, results_of)
            except LimitReached:
                raise
            except NasError as error:
                values[node] = None
                problems.extend(error.diagnostics)
        outputs = [values.get(node) for node in wiring.outputs]
        results = tuple(value for value in outputs if value is not None)
        nodes = tuple((node, value) for node, value in values.items() if value is not None and node.declared)
        if not wiring.sound or problems or len(results) < len(outputs):
            self.expander.unfinished.append(UnfinishedBlock(tuple(written.steps), tuple(written.shapes), nodes))
            raise NasError([*wiring.problems, *problems])
        return Block(
            use.function.definition,
            tuple(zip(wiring.inputs, shapes, strict=True)),
            tuple(written.steps),
            results,
            tuple(written.shapes[i] for i in results),
            tuple(written.channels[i] for i in results),
            wiring.numbers,
            self._constraints(results),
            use.arguments,
            nodes,
        )

    def _constraints(self, outputs: tuple[int, ...]) -> tuple[BlockConstraint, ...]:
        """The constraints of the block. Raises NasError if a requirement is not valid."""
        finder = ConstraintFinder(self.wiring, self.edges, outputs, self.expander.evaluator.meter)
        found: list[BlockConstraint] = []
        problems: list[Diagnostic] = []
        for requirement in self.wiring.requirements:
            try:
                constraint = finder.constraint(requirement, self.report)
            except LimitReached:
                raise
            except NasError as error:
                problems.extend(error.diagnostics)
                continue
            found += [] if constraint is None else [constraint]
        if problems:
            raise NasError(problems)
        return tuple(found)

    def _note_edges(
        self, node: MotifNode, incoming: Sequence[Application], values: Sequence[int], join: int | None
    ) -> None:
        """Note the edges into a node, for the requirements of the motif."""
        if not self.wiring.requirements:
            return
        for application, value in zip(incoming, values, strict=True):
            first, last, first_value = self.spans[application]
            steps = self.operations.steps[first:last]
            is_closable = closable(steps, first_value, (value,))[0]
            text = f"{', '.join(source.text for source in application.inputs)} -> {node.text}"
            edge = BlockEdge(value, join, gated(steps), is_closable, text)
            self.edges.append(ExpandedEdge(application, node, edge))

    def _value(
        self,
        node: MotifNode,
        incoming: Sequence[Application],
        values: dict[MotifNode, int | None],
        results_of: dict[Application, list[int] | None],
    ) -> int:
        """The value of a node: the results of its incoming operations, joined."""
        results: list[int] = []
        failed = not incoming
        problems: list[Diagnostic] = []
        for index, application in enumerate(incoming):
            if application not in results_of:
                results_of[application] = None
                sources = [values.get(source) for source in application.inputs]
                inputs = [value for value in sources if value is not None]
                if len(inputs) == len(sources):
                    name = node_name(node)
                    if len(incoming) > 1:
                        parallel = [other for other in incoming[:index] if other.inputs == application.inputs]
                        name = edge_name(node, application.inputs, sum(map(_is_written, parallel)) + 1)
                    elif node is self.wiring.out:
                        name = Name()  # `x -> out : conv > bn`: the operations are the motif
                    first, first_value = len(self.operations.steps), len(self.operations.shapes)
                    try:
                        results_of[application] = self._applied(application, inputs, name)
                        self.spans[application] = first, len(self.operations.steps), first_value
                    except LimitReached:
                        raise
                    except NasError as error:
                        problems.extend(error.diagnostics)
            outputs = results_of[application]
            if outputs is None:
                failed = True
            else:
                results.append(outputs[application.outputs.index(node)])
        if failed:
            raise NasError(problems)
        join = self.wiring.joins.get(node)
        if join is None:
            if len(results) == 1:
                self._note_edges(node, incoming, results, None)
                return results[0]
            join = Primitive(Sum(), node.span)
        joined = self._join(node, join.op, results, incoming)
        self._note_edges(node, incoming, results, joined)
        return joined

    def _applied(self, application: Application, inputs: list[int], name: Name) -> list[int]:
        if isinstance(application.operation, Primitive) and application.operation.op.is_join:
            self._check_join(application, application.operation.op, inputs)
        outputs = self.operations.apply(application.operation, inputs, name, application.span)
        if len(outputs) != len(application.outputs):
            actual, wanted = count(len(outputs), "output"), len(application.outputs)
            message = f"`{application.operation}` has {actual}, expected {wanted} here"
            help = "name all of them: `node a, b = split(16)(x)`"
            if len(outputs) == 1:
                help = "declare each node separately: `node a = ...`"
            self.report.fail(Diagnostic("NAS210", message, Label(application.span, "connected here"), help=help))
        return outputs

    def _check_join(self, application: Application, join: Op, inputs: list[int]) -> None:
        """`concat(a, b)`: there must be nodes, and their shapes must match."""
        if not inputs:
            help = "this array is empty"
            label = Label(application.span, "no nodes")
            self.report.fail(Diagnostic("NAS210", f"`{join}` has nothing to join", label, help=help))
        shapes = [self.operations.shapes[i] for i in inputs]
        try:
            join.shape(*shapes)
        except ShapeError as error:
            labels = [
                Label(node.span, f"`{node.written}` is {shape_text(shape)}")
                for node, shape in zip(application.inputs, shapes, strict=True)
            ]
            text = f"joined by `{join}`"
            self.report.fail(different_shapes("NAS201", str(error), text, application.span, labels, shapes))

    def _join(self, node: MotifNode, op: Op, values: list[int], incoming: Sequence[Application]) -> int:
        shapes = [self.operations.shapes[value] for value in values]
        try:
            shape = op.shape(*shapes)
        except ShapeError as error:
            labels = [
                Label(application.operation.span, f"gives {shape_text(shape)}")
                for application, shape in zip(incoming, shapes, strict=True)
            ]
            self.report.fail(
                different_shapes(
                    "NAS201", str(error), f"`{node.written}` is joined by `{op}`", node.span, labels, shapes
                )
            )
        if isinstance(incoming[0].operation, Chain):
            self.operations.names.release(node.name)  # the chain reserved it only for its steps
        channels = reading(self.operations, op, values, node.span, "NAS201").output
        return self.operations.compute(
            self.operations.free(node_name(node)), op, values, shape, node.span, channels=channels
        )


def _is_written(application: Application) -> bool:
    """Return whether an application becomes steps: an identity does not."""
    return not (isinstance(application.operation, Primitive) and application.operation.op.passes_through)
