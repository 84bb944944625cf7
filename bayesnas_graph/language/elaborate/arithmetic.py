"""Exact, bounded arithmetic; whole results are `int`."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from bayesnas_graph.language.elaborate.limits import LARGEST_NUMBER
from bayesnas_graph.language.elaborate.values import Number


def tidy(value: Number) -> Number:
    """Convert a whole value to `int`."""
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
    "round": lambda value: math.floor(value + Fraction(1, 2)),  # halves round up
}


def calculate(operator: str, left: Number, right: Number) -> Number:
    """The result of an operator: exact, and an `int` if it is whole.

    Raises ZeroDivisionError, ValueError for a fractional exponent, OverflowError beyond the bounds.

    >>> calculate("/", 3, 6), calculate("/", 6, 3)
    (Fraction(1, 2), 2)
    """
    result = tidy(_OPERATORS[operator](left, right))
    if out_of_bounds(result):
        raise OverflowError
    return result


def out_of_bounds(value: Number) -> bool:
    """Return whether a number is larger or more precise than the language allows."""
    return abs(value.numerator) > LARGEST_NUMBER or value.denominator > LARGEST_NUMBER
