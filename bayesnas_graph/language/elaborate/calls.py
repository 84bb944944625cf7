"""Evaluate calls: functions return values, `conv(16)` is an operation, and `conv(16)(x)` connects it to a node."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Seq
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Plain, Scalar
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate.arguments import Signature, accept, arrange, primitive_signature, signature_of
from bayesnas_graph.language.elaborate.arithmetic import out_of_bounds, tidy
from bayesnas_graph.language.elaborate.arrays import elements
from bayesnas_graph.language.elaborate.builtins import BUILTINS, call_builtin
from bayesnas_graph.language.elaborate.channels import Channels, numbers_in, width_with
from bayesnas_graph.language.elaborate.choosing import by_number, named, over_options, two_choices
from bayesnas_graph.language.elaborate.limits import LimitReached
from bayesnas_graph.language.elaborate.number_choices import Chosen, Pending
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import (
    Builtin,
    LetFunction,
    MotifFunction,
    MotifNode,
    Number,
    Operation,
    OptionSet,
    Primitive,
    PrimitiveFunction,
    PythonFunction,
    Range,
    SetFunction,
    Use,
    Value,
    kind,
    nodes_in,
    parts_of,
)
from bayesnas_graph.language.syntax import ast

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate.evaluate import Evaluator

MOST_CALLS = 4  # shown with a problem inside a function

OperationFunction = PrimitiveFunction | MotifFunction | PythonFunction
Arguments = Seq[tuple[str, Value]]


def call(evaluator: Evaluator, expr: ast.Call, scope: NameScope) -> Value:
    """The value of a call."""
    function = evaluator.value(expr.function, scope)
    if isinstance(function, Builtin):
        return _call_builtin(evaluator, function, expr, scope)
    if isinstance(function, SetFunction):
        return call_set(evaluator, function, expr, scope)
    if isinstance(function, LetFunction):
        return _call_function(evaluator, function, expr, scope)
    if isinstance(function, Operation):
        values = [evaluator.value(argument, scope) for argument in expr.arguments]
        return _connect(evaluator, function, expr, scope, values)
    if not isinstance(function, OperationFunction):
        hides = isinstance(expr.function, ast.Reference) and expr.function.name in BUILTINS
        help = f"this `{expr.function.span.text}` shadows the function of the same name: rename it" if hides else None
        evaluator.wrong_kind(expr.function, function, "something callable", help)
    if expr.arguments and not expr.keywords:
        values = [evaluator.value(argument, scope) for argument in expr.arguments]
        if _are_nodes(values, function):
            operation = evaluator.as_operation(expr.function, function, scope)
            return _connect(evaluator, operation, expr, scope, values)
        if isinstance(function, PrimitiveFunction) and function.cls.is_join and function.cls.adds:
            return total(evaluator, values, expr)
    return call_operation(evaluator, function, expr, scope)


def call_operation(evaluator: Evaluator, function: OperationFunction, expr: ast.Call, scope: NameScope) -> Operation:
    """An operation with its arguments, not yet connected to anything."""
    if isinstance(function, PrimitiveFunction):
        expressions = _arranged(evaluator, primitive_signature(function.cls), expr)
        values = [(name, named(evaluator.value(e, scope), name)) for name, e in expressions.items()]
        spans = {name: e.span for name, e in expressions.items()}
        return by_number(evaluator, values, partial(_primitive, evaluator, function, spans, expr.span), expr.span)
    arguments = _bound(evaluator, function, expr, scope)
    if isinstance(function, MotifFunction):
        return Use(function, arguments, expr.span)
    return by_number(evaluator, arguments, partial(_python, evaluator, function, expr.span), expr.span)


def _primitive(
    evaluator: Evaluator,
    function: PrimitiveFunction,
    spans: Mapping[str, Span],
    span: Span,
    arguments: Arguments,
) -> Primitive:
    op = accept(function.cls, dict(arguments), spans)
    if isinstance(op, Diagnostic):
        evaluator.report.fail(op)
    if (invalid := op.invalid_argument()) is not None:
        name, reason = invalid
        label = Label(spans.get(name, span), "given here")
        evaluator.report.fail(Diagnostic("NAS205", f"`{name}` of `{op.label}` {reason}", label))
    return Primitive(op, span)


def call_set(evaluator: Evaluator, function: SetFunction, expr: ast.Call, scope: NameScope) -> OptionSet:
    """The operations in a set; computed once for the same arguments."""
    arguments = _bound(evaluator, function, expr, scope)
    key = function, arguments, tuple(type(value) for _, value in arguments)
    if key not in evaluator.sets:
        inner = NameScope(function.module)
        inner.names.update(arguments)
        with evaluator.meter.deeper(function.definition.name.name, expr.span):
            evaluator.sets[key] = evaluator.options(function.definition.value, inner)
    return evaluator.sets[key]


def _call_function(evaluator: Evaluator, function: LetFunction, expr: ast.Call, scope: NameScope) -> Value:
    """The value of a `let` with parameters, for these arguments."""
    name = function.definition.name.name
    inner = function_scope(function, scope)
    inner.names.update(_bound(evaluator, function, expr, scope))
    with evaluator.meter.deeper(name, expr.span):
        try:
            return evaluator.value(function.definition.value, inner)
        except LimitReached:
            raise
        except NasError as error:
            raise NasError([_called(evaluator, problem, name, expr.span) for problem in error.diagnostics]) from None


def _called(evaluator: Evaluator, problem: Diagnostic, name: str, span: Span) -> Diagnostic:
    """A problem inside a function, with the call that led to it."""
    if problem.primary is None or len(problem.secondary) >= MOST_CALLS:
        return problem
    explained = replace(problem, secondary=(*problem.secondary, Label(span, f"in `{name}`, called here")))
    evaluator.report.replace(problem, explained)
    return explained


def function_scope(
    function: MotifFunction | SetFunction | PythonFunction | LetFunction, caller: NameScope
) -> NameScope:
    """An empty scope for the parameters of a function.

    Numbers that are chosen there belong to the caller, those of a motif to each of its uses, and those of a set, which
    is computed once, to the file.
    """
    outer = function.scope if isinstance(function, LetFunction) else None
    owner = Pending(function.definition) if isinstance(function, MotifFunction) else caller.owner
    within = outer if isinstance(outer, NameScope) else None
    return NameScope(function.module, within, owner=None if isinstance(function, SetFunction) else owner)


def total(evaluator: Evaluator, values: list[Value], expr: ast.Call) -> Value:
    """`sum(widths)`: the sum of numbers, given one by one or in arrays."""
    spans = [argument.span for argument in expr.arguments]
    lists = [
        elements(evaluator, value, span) if isinstance(value, tuple | Range) else (value,)
        for value, span in zip(values, spans, strict=True)
    ]

    def added(lists: Seq[Value]) -> Number:
        total: Number = 0
        for items, argument in zip(lists, expr.arguments, strict=True):
            for item in items if isinstance(items, tuple) else ():
                if isinstance(item, bool) or not isinstance(item, int | Fraction):
                    evaluator.wrong_kind(argument, item, "nodes or numbers")
                evaluator.meter.step(argument.span)
                total = tidy(total + item)
                if out_of_bounds(total):
                    evaluator.meter.number_too_large(expr.span)
        return total

    return over_options(evaluator, lists, added, expr.span)


def _call_builtin(evaluator: Evaluator, function: Builtin, expr: ast.Call, scope: NameScope) -> Value:
    if expr.keywords:
        evaluator.fail(
            "NAS202", f"`{function.name}` takes no keyword arguments", expr.keywords[0].span, "not allowed here"
        )
    values = [evaluator.value(argument, scope) for argument in expr.arguments]
    spans = [a.span for a in expr.arguments]

    def result_of(values: Seq[Value]) -> Value:
        result = call_builtin(function.name, values, spans, expr.span)
        if isinstance(result, Diagnostic):
            evaluator.report.fail(result)
        return tidy(result) if isinstance(result, Fraction) else result

    if function.name == "channels" and isinstance(values[0], MotifNode) and values[0].channels:
        return _chosen_channels(evaluator, values[0].channels, expr.span)
    return over_options(evaluator, values, result_of, expr.span)


def _chosen_channels(evaluator: Evaluator, channels: Channels, span: Span) -> Chosen:
    """`channels(x)`, if the width of `x` is chosen."""
    numbers = numbers_in([channels])
    if len(numbers) > 1:
        two_choices(evaluator, numbers, span)
    (choice,) = numbers
    return Chosen(choice, tuple(width_with(channels, choice, option) for option in range(len(choice))))


def _are_nodes(values: list[Value], function: OperationFunction) -> bool:
    """Return whether arguments are nodes to apply a function to, not values for its parameters."""
    nodes_by_value = [nodes_in(value) for value in values]
    if any(nodes_by_value):
        return True
    if isinstance(function, PrimitiveFunction) and function.cls.is_join and function.cls.adds:
        return False  # the sum of an empty array is 0
    takes_none = not isinstance(function, PrimitiveFunction) and not function.definition.parameters
    takes_none |= isinstance(function, PrimitiveFunction) and not function.cls.arguments()
    return takes_none and all(nodes is not None for nodes in nodes_by_value)


def _connect(
    evaluator: Evaluator, operation: Operation, expr: ast.Call, scope: NameScope, values: list[Value]
) -> MotifNode:
    """`conv(16)(x)`: an operation applied to nodes."""
    if scope.apply is None:
        message = "operations can be applied to nodes only inside a motif"
        evaluator.fail("NAS203", message, expr.span, "not inside a motif")
    if expr.keywords:
        evaluator.fail("NAS202", "nodes cannot be passed by keyword", expr.keywords[0].span, "not allowed here")
    inputs: list[MotifNode] = []
    for argument, value in zip(expr.arguments, values, strict=True):
        nodes = nodes_in(value)
        if nodes is None:
            help = "pass arguments first, then nodes: `conv(16)(x)`"
            evaluator.wrong_kind(argument, value, "a node", help)
        inputs.extend(nodes)
    return scope.apply(operation, tuple(inputs), expr.span)


def _python(evaluator: Evaluator, function: PythonFunction, span: Span, arguments: Arguments) -> Primitive:
    definition = function.definition
    if not evaluator.allow_python:
        if evaluator.report.has("NAS105"):
            raise NasError([])  # one flag, one message
        evaluator.report.fail(
            Diagnostic(
                "NAS105",
                f"`{definition.name.name}` is implemented in Python, and Python operations are not allowed",
                Label(span, "used here"),
                (Label(definition.target_span, "would be imported and run"),),
                help="if you trust the code, add `--allow-python`",
            )
        )
    plain: list[tuple[str, Plain]] = []
    for name, value in arguments:
        items = [_scalar(item) for item in value] if isinstance(value, tuple) else [_scalar(value)]
        known = tuple(item for item in items if item is not None)
        if len(known) < len(items):
            message = f"`{name}` of a Python operation must be a number, a boolean, a string, or an array of these"
            label = f"`{name}` is {kind(value)}" + (" of something else" if isinstance(value, tuple) else "")
            evaluator.fail("NAS203", message, span, label)
        plain.append((name, known if isinstance(value, tuple) else known[0]))
    return Primitive(PythonOp(definition.name.name, definition.target, tuple(plain)), span)


def _scalar(value: Value) -> Scalar | None:
    """A value for Python; None if it is not a number, a boolean or a string."""
    return float(value) if isinstance(value, Fraction) else value if isinstance(value, int | str) else None


def _bound(
    evaluator: Evaluator,
    function: MotifFunction | SetFunction | PythonFunction | LetFunction,
    expr: ast.Call,
    scope: NameScope,
) -> tuple[tuple[str, Value], ...]:
    """The value of every parameter, in order; a default may use the parameters before it."""
    definition = function.definition
    arguments = _arranged(evaluator, signature_of(definition), expr)
    inner = function_scope(function, scope)
    for parameter in definition.parameters or ():
        name = parameter.name.name
        if name in arguments:
            value = evaluator.value(arguments[name], scope)
            if not isinstance(function, LetFunction):
                _check_argument(evaluator, arguments[name], value)
            named(value, name)
        else:
            assert parameter.default is not None, "arrange reports missing arguments"
            value = named(evaluator.value(parameter.default, inner), name)
        inner.names[name] = value
    return tuple(inner.names.items())


def _check_argument(evaluator: Evaluator, expr: ast.Expr, value: Value) -> None:
    """Report a value that belongs to the body it is used in: it cannot be an argument of a motif or a set."""
    if nodes_in(value):
        evaluator.wrong_kind(expr, value, "a value", "pass nodes after the parameters: `f(16)(x)`")
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, MotifNode):
            evaluator.wrong_kind(expr, part, "a value", "pass nodes after the parameters: `f(16)(x)`")
        if isinstance(part, LetFunction) and part.scope is not None:
            name = part.definition.name.name
            help = f"define `{name}` at the top of the file"
            evaluator.fail("NAS203", f"`{name}` can be used only in the body that defines it", expr.span, "", help)
        waiting.extend(parts_of(part))


def _arranged(evaluator: Evaluator, signature: Signature, expr: ast.Call) -> dict[str, ast.Expr]:
    arguments = arrange(signature, expr.arguments, expr.keywords, expr.span)
    if isinstance(arguments, Diagnostic):
        evaluator.report.fail(arguments)
    return arguments
