"""Evaluate arrays and sets: their items, comprehensions, elements by index, and sets combined with `|` and `-`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn, TypeGuard

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.language.elaborate.labels import RESERVED_CANDIDATE
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import (
    Number,
    Operation,
    OptionSet,
    Poison,
    Range,
    SetFunction,
    Value,
    kind,
)
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
    names: dict[str, Span] = {}  # where each name is given
    labels: list[str] = []
    given = dict(zip(map(id, expr.items), expr.names, strict=True))
    for value, item in items(evaluator, expr, scope):
        if isinstance(value, OptionSet | SetFunction):
            evaluator.wrong_kind(item, value, "an operation", "combine sets with `|`: `{ a, b } | others`")
        operation = value if _is_number(value) else evaluator.as_operation(item, value, scope)
        other = next(iter(candidates), operation)
        if _is_number(other) != _is_number(operation):
            message = "a set has operations or numbers, not both"
            here = Label(item.span, f"this is {kind(value)}")
            first_of_other = Label(candidates[other].span, f"this is {kind(other)}")
            evaluator.report.fail(Diagnostic("NAS203", message, here, (first_of_other,)))
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
        name = given[id(item)]
        labels.append(name.name if name is not None else "")
        if name is not None:
            _check_name(evaluator, name, names)
    return OptionSet(tuple(candidates), tuple(labels))


def _check_name(evaluator: Evaluator, name: ast.Identifier, names: dict[str, Span]) -> None:
    """Report the name of a candidate that another one has, or that means something else."""
    if name.name == RESERVED_CANDIDATE:
        label, help = "the switch that turns off a whole choice", f"use another name, such as `{name.name}_`"
        evaluator.fail("NAS010", f"`{name.name}` cannot be used as the name of a candidate", name.span, label, help)
    if name.name in names:
        first = names[name.name]
        if first is name.span:
            help = "omit the name: those of a comprehension are made from the arguments"
            _same_name(evaluator, name.name, Label(name.span, "the name of several"), help=help)
        _same_name(evaluator, name.name, Label(name.span, "another one"), (Label(first, "first one"),))
    names[name.name] = name.span


def _same_name(
    evaluator: Evaluator,
    name: str,
    here: Label,
    others: tuple[Label, ...] = (),
    help: str = "give each candidate its own name",
) -> NoReturn:
    evaluator.report.fail(Diagnostic("NAS307", f"two candidates are called `{name}`", here, others, help))


def _is_number(value: Value) -> TypeGuard[Number]:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def element(evaluator: Evaluator, expr: ast.Index, scope: NameScope) -> Value:
    """`h[2]` or `h[0..2]`: one element of an array, or several."""
    array = evaluator.value(expr.array, scope)
    if not isinstance(array, tuple | Range):
        evaluator.wrong_kind(expr.array, array, "an array")
    index = evaluator.value(expr.index, scope)
    if isinstance(index, Range):
        if not 0 <= index.start <= max(index.stop, index.start) <= len(array):
            _out_of_range(evaluator, expr, f"{index.start}..{index.stop}", len(array))
        stop = max(index.stop, index.start)
        if isinstance(array, Range):
            return Range(array.start + index.start, array.start + stop)
        evaluator.meter.ahead(len(index), expr.span)
        return array[index.start : stop]
    if isinstance(index, bool) or not isinstance(index, int | Fraction):
        evaluator.wrong_kind(expr.index, index, "a number or a range")
    if isinstance(index, Fraction):
        evaluator.fail("NAS204", "an index must be a whole number", expr.index.span, f"this is {index}")
    if _counts_from_the_end(expr.index) and 0 < -index <= len(array):
        index += len(array)
    if not 0 <= index < len(array):
        _out_of_range(evaluator, expr, str(index), len(array))
    if isinstance(array, Range):
        return array.start + index
    value = array[index]
    if isinstance(value, Poison):
        raise NasError([])
    return value


def _counts_from_the_end(index: ast.Expr) -> bool:
    """`h[-1]` is the last element. A negative result of a computation, such as `h[i - 1]`, is a mistake."""
    return isinstance(index, ast.Prefix) and index.operator == "-" and isinstance(index.operand, ast.Number)


def elements(evaluator: Evaluator, array: tuple[Value, ...] | Range, span: Span) -> tuple[Value, ...]:
    """The elements of an array or a range."""
    if isinstance(array, tuple):
        return array
    evaluator.meter.ahead(len(array), span)
    return tuple(range(array.start, array.stop))


def _out_of_range(evaluator: Evaluator, expr: ast.Index, index: str, length: int) -> NoReturn:
    allowed = f"has elements 0 to {length - 1}" if length else "has no elements"
    evaluator.fail(
        "NAS207",
        f"index {index} is out of range",
        expr.index.span,
        f"this is {index}",
        f"`{expr.array.span.text}` {allowed}",
    )


def combine(evaluator: Evaluator, operator: str, left: OptionSet, right: OptionSet, span: Span) -> OptionSet:
    """Two sets joined with `|`, or the first without the operations of the second.

    An operation in both keeps its name in the first.
    """
    named = dict(zip(left.items, left.names, strict=True))
    if operator == "-":
        removed = set(right.items)
        kept = {item: name for item, name in named.items() if item not in removed}
        return OptionSet(tuple(kept), tuple(kept.values()))
    taken = {name for name in left.names if name}
    for item, name in zip(right.items, right.names, strict=True):
        if item not in named:
            if name in taken:
                _same_name(evaluator, name, Label(span, "one in each of these sets"))
            named[item] = name
    return OptionSet(tuple(named), tuple(named.values()))
