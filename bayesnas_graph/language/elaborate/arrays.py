"""Evaluate arrays and sets: their items, comprehensions, elements by index, and sets combined with `|` and `-`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn, TypeGuard

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import Number, Operation, OptionSet, Poison, Range, SetFunction, Value, kind
from bayesnas_graph.language.syntax import ast

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate.evaluate import Evaluator


def items(evaluator: Evaluator, expr: ast.Array | ast.SetLiteral, scope: NameScope) -> Iterator[tuple[Value, ast.Expr]]:
    """The items of an array or a set, each with the expression it comes from."""
    if expr.comprehension is None:
        for item in expr.items:
            yield evaluator.value(item, scope), item
        return
    condition = expr.comprehension.condition
    for inner in _rounds(evaluator, expr.comprehension.clauses, scope):
        if condition is None or evaluator.truth(condition, inner):
            yield evaluator.value(expr.items[0], inner), expr.items[0]


def _rounds(
    evaluator: Evaluator, clauses: tuple[tuple[ast.Identifier, ast.Expr], ...], scope: NameScope
) -> Iterator[NameScope]:
    """A scope for every combination of values of the variables of a comprehension."""
    if not clauses:
        yield scope
        return
    (variable, values), *rest = clauses
    for value in evaluator.iterate(values, scope):
        evaluator.meter.step(values.span)
        inner = NameScope(scope.module, scope)
        inner.names[variable.name] = value
        yield from _rounds(evaluator, tuple(rest), inner)


def option_set(evaluator: Evaluator, expr: ast.SetLiteral, scope: NameScope) -> OptionSet:
    """The operations or numbers in braces; none may occur twice."""
    candidates: dict[Operation | Number, ast.Expr] = {}
    for value, item in items(evaluator, expr, scope):
        if isinstance(value, OptionSet | SetFunction):
            evaluator.wrong_kind(item, value, "an operation", "combine sets with `|`: `{ a, b } | others`")
        operation = value if _is_number(value) else evaluator.as_operation(item, value, scope)
        for other, first in list(candidates.items())[:1]:
            if _is_number(other) != _is_number(operation):
                message, here = "a set has operations or numbers, not both", Label(item.span, f"this is {kind(value)}")
                evaluator.report.fail(Diagnostic("NAS203", message, here, (Label(first.span, f"this is {kind(other)}"),)))
        if operation in candidates:
            first = candidates[operation]
            evaluator.report.fail(
                Diagnostic(
                    "NAS307",
                    f"duplicate candidate `{operation}`",
                    Label(item.span, "duplicate"),
                    (Label(first.span, "first occurrence"),) if first is not item else (),
                    help="remove one of them",
                )
            )
        candidates[operation] = item
    return OptionSet(tuple(candidates))


def _is_number(value: Value) -> TypeGuard[Number]:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def element(evaluator: Evaluator, expr: ast.Index, scope: NameScope) -> Value:
    """`h[2]` or `h[0..2]`: one element of an array, or several."""
    array = evaluator.value(expr.array, scope)
    if not isinstance(array, tuple):
        evaluator.wrong_kind(expr.array, array, "an array")
    index = evaluator.value(expr.index, scope)
    if isinstance(index, Range):
        if not 0 <= index.start <= max(index.stop, index.start) <= len(array):
            _out_of_range(evaluator, expr, f"{index.start}..{index.stop}", len(array))
        evaluator.meter.ahead(len(index), expr.span)
        return array[index.start : max(index.stop, index.start)]
    if isinstance(index, bool) or not isinstance(index, int | Fraction):
        evaluator.wrong_kind(expr.index, index, "a number or a range")
    if isinstance(index, Fraction):
        evaluator.fail("NAS204", "an index must be a whole number", expr.index.span, f"this is {index}")
    if not 0 <= index < len(array):
        _out_of_range(evaluator, expr, str(index), len(array))
    value = array[index]
    if isinstance(value, Poison):
        raise NasError([])
    return value


def _out_of_range(evaluator: Evaluator, expr: ast.Index, index: str, length: int) -> NoReturn:
    allowed = f"has elements 0 to {length - 1}" if length else "has no elements"
    evaluator.fail(
        "NAS207",
        f"index {index} is out of range",
        expr.index.span,
        f"this is {index}",
        f"`{expr.array.span.text}` {allowed}",
    )


def combine(operator: str, left: OptionSet, right: OptionSet) -> OptionSet:
    """Two sets joined with `|`, or the first without the operations of the second."""
    if operator == "|":
        return OptionSet(tuple(dict.fromkeys(left.items + right.items)))
    removed = set(right.items)
    return OptionSet(tuple(item for item in left.items if item not in removed))
