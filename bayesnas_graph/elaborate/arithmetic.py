"""Numbers: exact, bounded, and whole wherever they can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.elaborate.limits import LARGEST_NUMBER
from bayesnas_graph.elaborate.values import Number
from bayesnas_graph.source import Span


def tidy(value: Number) -> Number:
    """An `int` if the value is whole."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(exponent, Fraction):
        raise ValueError("the exponent must be a whole number")
    if abs(exponent) > 64 and base not in (0, 1, -1):
        raise OverflowError
    return Fraction(base) ** exponent


_OPERATORS: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: Fraction(a) / b,
    "%": lambda a, b: a % b,
    "^": _power,
}

COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}

ROUNDINGS: dict[str, Callable[[Number], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": lambda value: math.floor(value + Fraction(1, 2)),  # halves go up
}


def calculate(operator: str, left: Number, right: Number, span: Span) -> Number | Diagnostic:
    """The result of an operator, or why there is none.

    >>> source = __import__("bayesnas_graph.source", fromlist=["Source"]).Source("example", "3 / 6")
    >>> calculate("/", 3, 6, Span(source, 0, 5))
    Fraction(1, 2)
    """
    try:
        result = tidy(_OPERATORS[operator](left, right))
    except ZeroDivisionError:
        return Diagnostic("NAS208", "division by zero", Label(span, f"`{left} {operator} {right}` has no value"))
    except ValueError as error:
        return Diagnostic("NAS208", str(error), Label(span, f"the exponent is {right}"))
    except OverflowError:
        return too_large(span)
    if abs(result.numerator) > LARGEST_NUMBER or result.denominator > LARGEST_NUMBER:
        return too_large(span)
    return result


def too_large(span: Span) -> Diagnostic:
    """The diagnostic for a number that is out of bounds."""
    return Diagnostic("NAS405", "number too large", Label(span, "more than 10^18"))
