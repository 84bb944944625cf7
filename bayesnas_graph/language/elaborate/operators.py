"""Evaluate `+`, `-`, `*`, `/`, `%`, `^` and `|`: on numbers, arrays, sets and operations."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.ops import Identity
from bayesnas_graph.language.elaborate.arithmetic import calculate
from bayesnas_graph.language.elaborate.arrays import combine, elements
from bayesnas_graph.language.elaborate.choosing import named, over_options
from bayesnas_graph.language.elaborate.number_choices import Chosen
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import (
    MotifFunction,
    MotifNode,
    Number,
    Operation,
    OptionSet,
    Primitive,
    PrimitiveFunction,
    PythonFunction,
    Range,
    Repeated,
    Sequence,
    SetFunction,
    Value,
    nodes_in,
)
from bayesnas_graph.language.syntax import ast

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate.evaluate import Evaluator

_Repeatable = (
    Operation | PrimitiveFunction | MotifFunction | PythonFunction
)  # an operation, or one without its arguments


def arithmetic(evaluator: Evaluator, expr: ast.Arithmetic, scope: NameScope) -> Value:
    """Operands joined by operators of equal precedence, from left to right."""
    left = evaluator.value(expr.operands[0], scope)
    for i, (operator, operand) in enumerate(zip(expr.operators, expr.operands[1:], strict=True)):
        if operator == "|" or (operator == "-" and isinstance(left, OptionSet | SetFunction)):
            first = left if isinstance(left, OptionSet) else evaluator.options(expr.operands[i], scope)
            left = combine(evaluator, operator, first, evaluator.options(operand, scope), expr.span)
            continue
        right = evaluator.value(operand, scope)
        if _is_number(left) and _is_number(right):
            left = over_options(
                evaluator, [left, right], partial(_calculate, evaluator, operator, expr.span), expr.span
            )
        elif operator == "*" and isinstance(left, _Repeatable):
            left = _repeated(evaluator, expr.operands[i], left, operand, right, scope)
        elif operator == "*" and isinstance(right, _Repeatable):
            left = _repeated(evaluator, operand, right, expr.operands[i], left, scope)
        elif operator == "+" and isinstance(left, tuple | Range) and isinstance(right, tuple | Range):
            left = elements(evaluator, left, expr.span) + elements(evaluator, right, expr.span)
            evaluator.meter.step(expr.span, len(left))
        else:
            _not_numbers(evaluator, operator, expr, i, left, right)
    return left


def _is_number(value: Value) -> bool:
    return isinstance(value, int | Fraction | Chosen) and not isinstance(value, bool)


def _calculate(evaluator: Evaluator, operator: str, span: Span, values: Any) -> Number:
    left, right = values
    try:
        return calculate(operator, left, right)
    except ZeroDivisionError:
        evaluator.fail("NAS208", "division by zero", span, f"`{left} {operator} {right}` is undefined")
    except ValueError as error:
        evaluator.fail("NAS208", str(error), span, f"the exponent is {right}")
    except OverflowError:
        evaluator.meter.number_too_large(span)


def _repeated(
    evaluator: Evaluator, expr: ast.Expr, value: Value, times_expr: ast.Expr, times: Value, scope: NameScope
) -> Operation:
    """`block * 3` is `block > block > block`: a chain of uses, each with its own weights."""
    operation = evaluator.as_operation(expr, value, scope)
    if isinstance(times, Chosen):
        return _repeated_by_choice(evaluator, operation, times_expr, times)
    count = evaluator.as_integer(times_expr, times, "the number of repetitions", 0)
    span = expr.span.to(times_expr.span) if expr.span.start < times_expr.span.start else times_expr.span.to(expr.span)
    steps = operation.steps if isinstance(operation, Sequence) else (operation,)
    evaluator.meter.ahead(count * len(steps), span)
    return Sequence(steps * count, span, repeated=True) if count else Primitive(Identity(), span)


def _repeated_by_choice(evaluator: Evaluator, operation: Operation, expr: ast.Expr, times: Chosen) -> Repeated:
    """`block * n`, with a number that is chosen."""
    named(times, "times")
    for value in times.values:
        evaluator.as_integer(expr, value, "the number of repetitions", 0)
    return Repeated(
        operation, times, operation.span.to(expr.span) if operation.span.start < expr.span.start else expr.span
    )


def _not_numbers(
    evaluator: Evaluator, operator: str, expr: ast.Arithmetic, position: int, left: Value, right: Value
) -> NoReturn:
    """Report operands that an operator does not take."""
    wrong, value = (expr.operands[position + 1], right) if _is_number(left) else (expr.operands[position], left)
    wanted, help = "a number", None
    if nodes_in(left) or nodes_in(right):
        if isinstance(left, MotifNode) or not isinstance(value, MotifNode):
            pair = ", ".join(operand.span.text for operand in expr.operands[position : position + 2])
        else:
            pair = expr.operands[position + 1].span.text
        join = {"+": "sum", "-": "difference", "*": "product"}.get(operator)
        help = f"join nodes with an operation: `{join or 'sum'}({pair})`"
    elif isinstance(left, tuple | Range) and operator == "+":
        wrong, value, wanted = expr.operands[position + 1], right, "an array"
        help = "put a single element into brackets: `a + [b]`"
    elif isinstance(left, OptionSet | SetFunction) and operator == "*":
        help = "to repeat a choice, write `(choose s) * 3`"
    elif isinstance(left, OptionSet | SetFunction) and operator == "+":
        help = "the union of two sets is `a | b`"
    elif isinstance(left, _Repeatable):
        help = "operations can be chained, `a > b`, and repeated, `a * 3`"
    evaluator.wrong_kind(wrong, value, wanted, help)
