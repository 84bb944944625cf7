"""Run the body of a motif: its nodes, and the operations between them.

At this stage, only the shapes of the inputs are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Shape
from bayesnas_graph.ir.ops import Identity
from bayesnas_graph.language.elaborate.evaluate import Evaluator
from bayesnas_graph.language.elaborate.labels import Names, label_of
from bayesnas_graph.language.elaborate.limits import LimitReached
from bayesnas_graph.language.elaborate.scope import Scope
from bayesnas_graph.language.elaborate.values import POISON, MotifFunction, MotifNode, Operation, Primitive, Value
from bayesnas_graph.language.syntax import ast

QUANTITIES = ("params", "flops", "memory")  # that a budget can limit


@dataclass(frozen=True, slots=True, eq=False)
class Application:
    """An operation that reads some nodes and contributes to others."""

    operation: Operation
    inputs: tuple[MotifNode, ...]
    outputs: tuple[MotifNode, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Budget:
    """A `require` clause: stored with the network, enforced when an architecture is derived."""

    quantity: str
    comparison: str
    bound: int
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.quantity} {self.comparison} {self.bound:,}"


@dataclass
class Wiring:
    """The nodes and operations of a motif. Not changed after `wire` has returned it."""

    inputs: list[MotifNode] = field(default_factory=list)
    nodes: list[MotifNode] = field(default_factory=list)  # except the inputs, in the order of the text
    joins: dict[MotifNode, Primitive] = field(default_factory=dict)
    applications: list[Application] = field(default_factory=list)
    outputs: list[MotifNode] = field(default_factory=list)
    out: MotifNode | None = None  # the node `out` of `x -> out`
    budgets: list[Budget] = field(default_factory=list)
    sound: bool = True  # false if a statement failed
    problems: list[Diagnostic] = field(default_factory=list)  # of the failed statements


def wire(
    evaluator: Evaluator, function: MotifFunction, arguments: Iterable[tuple[str, Value]], shapes: Sequence[Shape]
) -> Wiring:
    """Run the body of a motif for given arguments and input shapes."""
    run = _Run(evaluator, function, list(shapes))
    scope = Scope(function.module, apply=run.apply)
    scope.names.update(arguments)
    run.block(function.definition.body, Scope(function.module, scope))
    run.finish()
    return run.wiring


class _Run:
    def __init__(self, evaluator: Evaluator, function: MotifFunction, shapes: list[Shape]) -> None:
        self.evaluator = evaluator
        self.report = evaluator.report
        self.function = function
        self.shapes = shapes
        self.wiring = Wiring()
        self.input_nodes: set[MotifNode] = set()  # for fast lookup
        self.out_statement: ast.Out | None = None
        self.halted = False  # an assertion failed: the statements it guards are skipped
        self.names = Names()

    # ---- statements

    def block(self, block: ast.Block, scope: Scope) -> None:
        for statement in block.statements:
            if self.halted:
                return
            self.evaluator.meter.step(statement.span)
            try:
                self._statement(statement, scope)
            except LimitReached:
                raise
            except NasError as error:
                self._broken(*error.diagnostics)
                self.halted |= isinstance(statement, ast.Assert)
                for name in ast.declared(statement):
                    scope.names.setdefault(name, POISON)

    def _statement(self, statement: ast.Statement, scope: Scope) -> None:
        match statement:
            case ast.In():
                self._input(statement, scope)
            case ast.NodeDeclaration():
                self._node(statement, scope)
            case ast.Edge():
                self._edge(statement, scope)
            case ast.Out():
                self._output(statement, scope)
            case ast.OutJoin():
                self.wiring.joins[self._out_node(statement.span)] = self._join(statement.join, scope)
            case ast.Let():
                value = self.evaluator.value(statement.value, scope)
                self._define(statement.name, value, scope)
            case ast.For():
                self._for(statement, scope)
            case ast.If():
                self._if(statement, scope)
            case ast.Assert():
                self._assert(statement, scope)
            case ast.Require():
                self._require(statement, scope)

    def _input(self, statement: ast.In, scope: Scope) -> None:
        for slot in statement.slots:
            if slot.size is None:
                self._define(slot.name, self._next_input(slot), scope)
                continue
            if slot.variable is not None:
                self._fail(
                    "NAS203",
                    "inputs have no index variable",
                    slot.span,
                    "",
                    "write the number of inputs: `in f[count]`",
                )
            count = self.evaluator.integer(slot.size, scope, "the number of inputs", 0)
            self.evaluator.meter.nodes(count, slot.span)
            self._define(slot.name, tuple(self._next_input(slot, i) for i in range(count)), scope)

    def _next_input(self, slot: ast.Slot, index: int | None = None) -> MotifNode:
        position = len(self.wiring.inputs)
        # The number of inputs is checked when the whole body is known.
        shape = self.shapes[position] if position < len(self.shapes) else None
        node = MotifNode(*self._names(slot.name.name, index), slot.span, shape)
        self.wiring.inputs.append(node)
        self.input_nodes.add(node)
        return node

    def _node(self, statement: ast.NodeDeclaration, scope: Scope) -> None:
        if len(statement.slots) > 1 and statement.sources:
            self._several_outputs(statement, scope)
            return
        for slot in statement.slots:
            if slot.variable is not None:
                self._comprehension(statement, slot, scope)
                continue
            nodes = self._declare(slot, scope)
            if statement.sources:
                for node in nodes:
                    self._connect(statement.sources, (node,), statement.label, statement.span, scope)
            elif statement.label is not None:
                join = self._join(statement.label, scope)
                self.wiring.joins.update(dict.fromkeys(nodes, join))

    def _declare(self, slot: ast.Slot, scope: Scope) -> tuple[MotifNode, ...]:
        name = slot.name.name
        if slot.size is None:
            node = self._new_node(name, slot.span)
            self._define(slot.name, node, scope)
            return (node,)
        count = self.evaluator.integer(slot.size, scope, "the number of nodes", 0)
        self.evaluator.meter.nodes(count, slot.span)
        nodes = tuple(self._new_node(name, slot.span, i) for i in range(count))
        self._define(slot.name, nodes, scope)
        return nodes

    def _comprehension(self, statement: ast.NodeDeclaration, slot: ast.Slot, scope: Scope) -> None:
        """`node h[i in 0..4] = x : conv(8 * i)`: elements may read each other."""
        assert slot.size is not None, "the grammar gives both"
        assert slot.variable is not None, "the grammar gives both"
        values = list(self.evaluator.iterate(slot.size, scope))
        nodes = tuple(self._new_node(slot.name.name, slot.span, i) for i in range(len(values)))
        self._define(slot.name, nodes, scope)
        for node, value in zip(nodes, values, strict=True):
            inner = Scope(scope.module, scope)
            inner.names[slot.variable.name] = value
            if statement.sources:
                self._connect(statement.sources, (node,), statement.label, statement.span, inner)
            elif statement.label is not None:
                self.wiring.joins[node] = self._join(statement.label, inner)

    def _several_outputs(self, statement: ast.NodeDeclaration, scope: Scope) -> None:
        """`node a, b = x : split`: one operation with several outputs."""
        if len(statement.sources) > 1 and statement.label is None:
            self._fail(
                "NAS210", "several nodes in one declaration need a single source", statement.span, "more than one value"
            )
        if any(slot.size is not None for slot in statement.slots):
            self._fail("NAS210", "an output cannot be an array", statement.span, "declares an array")
        label = statement.label
        if label is None:
            call = statement.sources[0]
            if not isinstance(call, ast.Call):
                help = "apply an operation: `node a, b = split(16)(x)`"
                self._fail("NAS210", "only an operation can have several outputs", call.span, "a single value", help)
            operation = self.evaluator.operation(call.function, scope)
            inputs = [node for e in call.arguments for node in self.evaluator.nodes(e, scope)]
        else:
            operation = self.evaluator.operation(label, scope)
            inputs = [node for e in statement.sources for node in self.evaluator.nodes(e, scope)]
        outputs = tuple(node for slot in statement.slots for node in self._declare(slot, scope))
        self.wiring.applications.append(Application(operation, tuple(inputs), outputs, statement.span))

    def _edge(self, statement: ast.Edge, scope: Scope) -> None:
        targets: list[MotifNode] = []
        for target in statement.targets:
            if isinstance(target, ast.OutTarget):
                targets.append(self._out_node(target.span))
                continue
            if isinstance(target, ast.Call):
                help = "declare a node with `node` and use it as the target"
                self._fail(
                    "NAS203",
                    "the target of an edge must be a node",
                    target.span,
                    "this is the result of an operation",
                    help,
                )
            for node in self.evaluator.nodes(target, scope):
                if node in self.input_nodes:
                    self._fail("NAS203", f"`{node.name}` is an input", target.span, "cannot be the target of an edge")
                targets.append(node)
        self._connect(statement.sources, targets, statement.label, statement.span, scope)

    def _connect(
        self,
        sources: Sequence[ast.Expr],
        targets: Sequence[MotifNode],
        label: ast.Expr | None,
        span: Span,
        scope: Scope,
    ) -> None:
        """An edge from each source to each target."""
        found = [node for source in sources for node in self.evaluator.nodes(source, scope)]
        if label is None and len(targets) == 1 and isinstance(sources[0], ast.Call) and len(found) == 1:
            self._hold(found[0], targets[0])
            return
        self.evaluator.meter.edges(len(found) * len(targets), span)
        operation = Primitive(Identity(), span) if label is None else self.evaluator.operation(label, scope)
        if isinstance(operation, Primitive) and operation.op.is_join and label is not None:
            join = operation.op.name
            help = f"join nodes with `{join}(a, b)`, or all edges into a node with `node c : {join}`"
            self._fail(
                "NAS210", f"`{join}` joins several values, but an edge carries one", label.span, "on an edge", help
            )
        for source in found:
            for target in targets:
                self.wiring.applications.append(Application(operation, (source,), (target,), span))

    def _hold(self, node: MotifNode, target: MotifNode) -> None:
        """`node y = f(x)`: `y` itself holds `f(x)`, so no extra node is needed."""
        latest = self.wiring.nodes.pop()
        assert node is latest, "it was just created by applying an operation"
        self.names.release(node.name)
        self.wiring.applications[-1] = replace(self.wiring.applications[-1], outputs=(target,))

    def _output(self, statement: ast.Out, scope: Scope) -> None:
        if self.out_statement is not None:
            first = Label(self.out_statement.span, "first set here")
            help = "name all outputs in one statement: `out a, b`"
            self.report.fail(
                Diagnostic("NAS102", "the output is set twice", Label(statement.span, "set again"), (first,), help)
            )
        self.out_statement = statement
        for value in statement.values:
            self.wiring.outputs.extend(self.evaluator.nodes(value, scope))

    def _for(self, statement: ast.For, scope: Scope) -> None:
        for value in self.evaluator.iterate(statement.values, scope):
            self.evaluator.meter.step(statement.span)
            sound = self.wiring.sound
            inner = Scope(scope.module, scope)
            inner.names[statement.variable.name] = value
            self.block(statement.body, inner)
            if sound and not self.wiring.sound:
                return  # the next iterations would report the same

    def _if(self, statement: ast.If, scope: Scope) -> None:
        branch = statement.yes if self.evaluator.truth(statement.condition, scope) else statement.no
        if isinstance(branch, ast.If):
            self._if(branch, scope)
        elif branch is not None:
            self.block(branch, Scope(scope.module, scope))

    def _assert(self, statement: ast.Assert, scope: Scope) -> None:
        if not self.evaluator.truth(statement.condition, scope):
            message = statement.message or "assertion failed"
            self._fail("NAS206", message, statement.condition.span, "this is false")

    def _require(self, statement: ast.Require, scope: Scope) -> None:
        quantity = statement.quantity
        if self.function.definition.role != "network":
            self._fail("NAS213", "only a network can have a budget", statement.span, "not in a network")
        if quantity.name not in QUANTITIES:
            self._fail(
                "NAS213",
                f"`{quantity.name}` cannot be limited",
                quantity.span,
                "unknown",
                f"a budget can limit {', '.join(QUANTITIES)}",
            )
        if statement.comparison not in ("<", "<=", ">", ">="):
            self._fail("NAS213", f"a budget cannot use `{statement.comparison}`", statement.span, "", "use `<` or `<=`")
        bound = self.evaluator.integer(statement.bound, scope, "a budget", 0)
        self.wiring.budgets.append(Budget(quantity.name, statement.comparison, bound, statement.span))

    # ---- nodes

    def apply(self, operation: Operation, inputs: tuple[MotifNode, ...], span: Span) -> MotifNode:
        """A new node for the result of an operation inside an expression, such as `concat(h)`."""
        node = self._new_node(label_of(operation), span, declared=False)
        self.wiring.applications.append(Application(operation, inputs, (node,), span))
        return node

    def _names(self, name: str, index: int | None) -> tuple[str, str]:
        """The id and the text of a node, numbered if the name is taken."""
        id, text = (name, name) if index is None else (f"{name}.{index}", f"{name}[{index}]")
        suffix = self.names.suffix(id)
        return id + suffix, text + suffix

    def _new_node(self, name: str, span: Span, index: int | None = None, declared: bool = True) -> MotifNode:
        node = MotifNode(*self._names(name, index), span, declared=declared)
        self.wiring.nodes.append(node)
        self.evaluator.meter.nodes(len(self.wiring.nodes), span)
        return node

    def _out_node(self, span: Span) -> MotifNode:
        if self.wiring.out is None:
            self.wiring.out = self._new_node("out", span)
        return self.wiring.out

    def _join(self, expr: ast.Expr, scope: Scope) -> Primitive:
        operation = self.evaluator.operation(expr, scope)
        if not isinstance(operation, Primitive) or not operation.op.is_join:
            help = "join with `sum`, `concat`, `mean` or `product`; to apply an operation: `node y = x : relu`"
            self._fail("NAS203", "expected a join", expr.span, "this takes a single value", help)
        return operation

    def _define(self, name: ast.Identifier, value: Value, scope: Scope) -> None:
        if name.name in scope.names:
            raise NasError([])  # declared twice: already reported by the check of names
        scope.names[name.name] = value

    def _fail(self, code: str, message: str, span: Span, text: str, help: str | None = None) -> NoReturn:
        self.evaluator.fail(code, message, span, text, help)

    def finish(self) -> None:
        """Determine the outputs."""
        definition = self.function.definition
        if self.wiring.out is not None and self.out_statement is not None:
            label = Label(self.wiring.out.span, "edge to `out`")
            other = Label(self.out_statement.span, "the output is also set here")
            self._broken(Diagnostic("NAS102", "the output is set twice", label, (other,), "keep one of the two"))
        elif self.wiring.out is not None:
            self.wiring.outputs.append(self.wiring.out)
        if not self.wiring.outputs and self.wiring.sound:
            help = "end with `out x`, or add an edge to `out`: `x -> out : relu`"
            label = Label(definition.name.span, "no output")
            self._broken(
                Diagnostic("NAS305", f"{definition.role} `{definition.name.name}` has no output", label, help=help)
            )

    def _broken(self, *problems: Diagnostic) -> None:
        self.wiring.sound = False
        self.wiring.problems.extend(problems)
        for problem in problems:
            self.report.add(problem)
