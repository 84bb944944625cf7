"""Run the body of a motif statement by statement.

At this stage, only the shapes of the inputs are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Shape
from bayesnas_graph.ir.ops import Identity
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.choosing import adopt, named
from bayesnas_graph.language.elaborate.evaluate import Evaluator
from bayesnas_graph.language.elaborate.limits import LimitReached
from bayesnas_graph.language.elaborate.requirements import requirements
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import (
    POISON,
    LetFunction,
    MotifFunction,
    MotifNode,
    Operation,
    Primitive,
    Selection,
    Shared,
    Value,
)
from bayesnas_graph.language.elaborate.values import Sequence as Chain
from bayesnas_graph.language.elaborate.wiring import Budget, Wiring, WiringBuilder
from bayesnas_graph.language.syntax import ast

MOST_SHOWN = 4  # nodes in a message
QUANTITIES = ("params", "flops", "memory")  # that a budget can limit


def wire(
    evaluator: Evaluator,
    function: MotifFunction,
    arguments: Iterable[tuple[str, Value]],
    shapes: Sequence[Shape],
    channels: Sequence[Channels | None],
) -> Wiring:
    """Run the body of a motif for given arguments and input shapes, and channels where widths are chosen."""
    run = _Run(evaluator, function, shapes, channels)
    scope = NameScope(function.module, apply=run.builder.apply, owner=run.wiring.numbers)
    for name, value in arguments:
        scope.names[name] = named(adopt(run.wiring.numbers, function.definition, value), name)
    run.block(function.definition.body, NameScope(function.module, scope))
    run.finish()
    return run.wiring


class _Run:
    def __init__(
        self,
        evaluator: Evaluator,
        function: MotifFunction,
        shapes: Sequence[Shape],
        channels: Sequence[Channels | None],
    ) -> None:
        self.evaluator = evaluator
        self.report = evaluator.report
        self.function = function
        self.builder = WiringBuilder(evaluator.meter, shapes, channels)
        self.wiring = self.builder.wiring
        self.out_statement: ast.Out | None = None
        self.halted = False  # an assertion failed: the statements it guards are skipped

    # ---- statements

    def block(self, block: ast.StatementBlock, scope: NameScope) -> None:
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

    def _statement(self, statement: ast.Statement, scope: NameScope) -> None:
        match statement:
            case ast.In():
                self._input(statement, scope)
            case ast.NodeDeclaration():
                self._node(statement, scope)
            case ast.EdgeStatement():
                self._edge(statement, scope)
            case ast.Out():
                self._output(statement, scope)
            case ast.OutJoin():
                self.wiring.joins[self.builder.out_node(statement.span)] = self._join(statement.join, scope)
            case ast.Let():
                self._let(statement, scope)
            case ast.Share():
                self._share(statement, scope)
            case ast.For():
                self._for(statement, scope)
            case ast.If():
                self._if(statement, scope)
            case ast.Assert():
                self._assert(statement, scope)
            case ast.Require():
                self._require(statement, scope)
            case ast.RequireEdges():
                self.wiring.requirements += requirements(self.evaluator, statement, scope)

    def _let(self, statement: ast.Let, scope: NameScope) -> None:
        value: Value
        if statement.parameters is None:
            value = named(self.evaluator.value(statement.value, scope), statement.name.name)
        else:
            value = LetFunction(scope.module, statement, scope)
        self._define(statement.name, value, scope)

    def _share(self, statement: ast.Share, scope: NameScope) -> None:
        operation = self.evaluator.operation(statement.operation, scope)
        if not isinstance(operation, Shared):  # another name for shared weights is the same weights
            body = ast.StatementBlock(statement.span, ())
            definition = ast.Motif(statement.span, "share", statement.name, (), body)
            operation = self.builder.add_shared(definition, operation)
        self._define(statement.name, operation, scope)

    def _input(self, statement: ast.In, scope: NameScope) -> None:
        for slot in statement.slots:
            if slot.size is None:
                self._define(slot.name, self.builder.add_input(slot.name.name, slot.span), scope)
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
            nodes = tuple(self.builder.add_input(slot.name.name, slot.span, i) for i in range(count))
            self._define(slot.name, nodes, scope)

    def _node(self, statement: ast.NodeDeclaration, scope: NameScope) -> None:
        if len(statement.slots) > 1 and statement.sources:
            self._several_outputs(statement, scope)
            return
        for slot in statement.slots:
            if statement.following and slot.variable is None:
                help = f"write `node {slot.name.name}[i in 0..4] = x then {slot.name.name}[i - 1]`"
                text = "needs an index"
                self._fail("NAS203", "`then` is for an array whose elements read each other", slot.span, text, help)
            if slot.variable is not None:
                self._comprehension(statement, slot, scope)
                continue
            self._check_reads_itself(statement, slot, scope)
            nodes = self._declare(slot, scope)
            if statement.sources:
                for node in nodes:
                    self._connect(statement.sources, (node,), statement.label, statement.span, scope)
            elif statement.label is not None:
                join = self._join(statement.label, scope)
                self.wiring.joins.update(dict.fromkeys(nodes, join))

    def _check_reads_itself(self, statement: ast.NodeDeclaration, slot: ast.DeclarationSlot, scope: NameScope) -> None:
        """`node h = h : relu` declares a new node, which cannot read the old one of the same name."""
        name = slot.name.name
        itself = [e for e in statement.sources if isinstance(e, ast.Reference) and e.name == name]
        if not itself or name in scope.names:
            return
        outer = scope.find(name)
        others = (Label(outer.span, f"not this `{name}`"),) if isinstance(outer, MotifNode) else ()
        help = f"write `node {name}[i in 0..3] = x then {name}[i - 1] : ...`, or repeat an operation: `relu * 3`"
        label = Label(itself[0].span, f"this is the new `{name}`")
        self.report.fail(Diagnostic("NAS301", f"`{name}` reads itself: a node has one value", label, others, help))

    def _declare(self, slot: ast.DeclarationSlot, scope: NameScope) -> tuple[MotifNode, ...]:
        name = slot.name.name
        if slot.size is None:
            node = self.builder.add_node(name, slot.span)
            self._define(slot.name, node, scope)
            return (node,)
        count = self.evaluator.integer(slot.size, scope, "the number of nodes", 0)
        self.evaluator.meter.nodes(count, slot.span)
        nodes = tuple(self.builder.add_node(name, slot.span, i) for i in range(count))
        self._define(slot.name, nodes, scope)
        return nodes

    def _comprehension(self, statement: ast.NodeDeclaration, slot: ast.DeclarationSlot, scope: NameScope) -> None:
        """`node h[i in 0..4] = x : conv(8 * i)`: elements may read each other."""
        assert slot.size is not None, "the grammar gives both"
        assert slot.variable is not None, "the grammar gives both"
        values = list(self.evaluator.iterate(slot.size, scope))
        sources = statement.sources
        nodes = tuple(self.builder.add_node(slot.name.name, slot.span, i) for i in range(len(values)))
        self._define(slot.name, nodes, scope)
        for node, value in zip(nodes, values, strict=True):
            inner = NameScope(scope.module, scope)
            inner.names[slot.variable.name] = value
            if sources:
                self._connect(sources, (node,), statement.label, statement.span, inner)
                sources = statement.following or sources
            elif statement.label is not None:
                self.wiring.joins[node] = self._join(statement.label, inner)

    def _several_outputs(self, statement: ast.NodeDeclaration, scope: NameScope) -> None:
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
        self.builder.connect(operation, tuple(inputs), outputs, statement.span)

    def _edge(self, statement: ast.EdgeStatement, scope: NameScope) -> None:
        targets: list[MotifNode] = []
        for target in statement.targets:
            if isinstance(target, ast.OutTarget):
                targets.append(self.builder.out_node(target.span))
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
                if self.builder.is_input(node):
                    self._fail("NAS203", f"`{node.name}` is an input", target.span, "cannot be the target of an edge")
                targets.append(node)
        self._connect(statement.sources, targets, statement.label, statement.span, scope)

    def _connect(
        self,
        sources: Sequence[ast.Expr],
        targets: Sequence[MotifNode],
        label: ast.Expr | None,
        span: Span,
        scope: NameScope,
    ) -> None:
        """An edge from each source to each target."""
        nodes = [node for source in sources for node in self.evaluator.nodes(source, scope)]
        if (
            label is None
            and len(targets) == 1
            and len(nodes) == 1
            and self.builder.is_result(nodes[0], sources[0].span)
        ):
            self.builder.replace_latest(nodes[0], targets[0])
            return
        self.evaluator.meter.edges(len(nodes) * len(targets), span)
        operation = Primitive(Identity(), span) if label is None else self.evaluator.operation(label, scope)
        if isinstance(operation, Primitive) and operation.op.is_join and label is not None:
            join = operation.op.name
            help = f"join nodes with `{join}(a, b)`, or all edges into a node with `node c : {join}`"
            self._fail(
                "NAS210", f"`{join}` joins several values, but an edge carries one", label.span, "on an edge", help
            )
        if label is not None and len(nodes) > 1:
            self._check_joins(operation, nodes, label.span)
        for node in nodes:
            for target in targets:
                self.builder.connect(operation, (node,), (target,), span)

    def _check_joins(self, operation: Operation, nodes: Sequence[MotifNode], span: Span) -> None:
        """Warn about `a, b -> c : concat > ...`, where each edge joins a single value."""
        steps = operation.steps if isinstance(operation, Chain) else ()
        join = next((step.op for step in steps if isinstance(step, Primitive) and step.op.is_join), None)
        if join is None:
            return
        message = f"`{join}` joins a single value on each of {len(nodes)} edges"
        shown = ", ".join(node.written for node in nodes) if len(nodes) <= MOST_SHOWN else "..."
        help = f"to join the sources first, write `{join}({shown}) -> ...`"
        label = Label(span, "each edge has its own operations")
        self.report.add(Diagnostic("NAS309", message, label, help=help, severity="warning"))

    def _output(self, statement: ast.Out, scope: NameScope) -> None:
        if self.out_statement is not None:
            first = Label(self.out_statement.span, "first set here")
            help = "name all outputs in one statement: `out a, b`"
            self.report.fail(
                Diagnostic("NAS102", "the output is set twice", Label(statement.span, "set again"), (first,), help)
            )
        self.out_statement = statement
        for value in statement.values:
            self.wiring.outputs.extend(self.evaluator.nodes(value, scope))

    def _for(self, statement: ast.For, scope: NameScope) -> None:
        for value in self.evaluator.iterate(statement.values, scope):
            self.evaluator.meter.step(statement.span)
            sound = self.wiring.sound
            inner = NameScope(scope.module, scope)
            inner.names[statement.variable.name] = value
            self.block(statement.body, inner)
            if sound and not self.wiring.sound:
                return  # the next iterations would report the same

    def _if(self, statement: ast.If, scope: NameScope) -> None:
        branch: ast.If | ast.StatementBlock | None = statement
        while isinstance(branch, ast.If):
            branch = branch.yes if self.evaluator.truth(branch.condition, scope) else branch.no
        if branch is not None:
            self.block(branch, NameScope(scope.module, scope))

    def _assert(self, statement: ast.Assert, scope: NameScope) -> None:
        if not self.evaluator.truth(statement.condition, scope):
            message = statement.message or "assertion failed"
            self._fail("NAS206", message, statement.condition.span, "this is false")

    def _require(self, statement: ast.Require, scope: NameScope) -> None:
        quantity = statement.quantity
        if self.function.definition.role != "network":
            self._fail("NAS213", "only a network can have a budget", statement.span, "not in a network")
        if quantity.name not in QUANTITIES:
            self._fail(
                "NAS213",
                f"`{quantity.name}` cannot be limited",
                quantity.span,
                "unknown",
                "did you mean `params`?"
                if quantity.name in ("parameters", "weights")
                else f"a budget can limit {', '.join(QUANTITIES)}; edges are limited by `edges` and `inputs(h)`",
            )
        if statement.comparison not in ("<", "<=", ">", ">="):
            self._fail("NAS213", f"a budget cannot use `{statement.comparison}`", statement.span, "", "use `<` or `<=`")
        bound = self.evaluator.integer(statement.bound, scope, "a budget", 0)
        self.wiring.budgets.append(Budget(quantity.name, statement.comparison, bound, statement.span))

    def _join(self, expr: ast.Expr, scope: NameScope) -> Primitive:
        operation = self.evaluator.operation(expr, scope)
        if not isinstance(operation, Primitive) or not operation.op.is_join:
            help = "join with `sum`, `concat`, `mean` or `product`; to apply an operation: `node y = x : relu`"
            if isinstance(operation, Selection):
                help = f"a choice is made on an edge: `x -> y : {expr.span.text.split()[0]} ...`"
            self._fail("NAS203", "expected a join", expr.span, "this takes a single value", help)
        return operation

    def _define(self, name: ast.Identifier, value: Value, scope: NameScope) -> None:
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
