"""Exact fractions as decimal numbers."""

from __future__ import annotations

from fractions import Fraction

MOST_DIGITS = 18  # after the point


def decimal(value: Fraction | int) -> str | None:
    """The digits of a number; None if they do not end.

    >>> decimal(Fraction(1, 5)), decimal(Fraction(-5, 2)), decimal(Fraction(1, 3)), decimal(8)
    ('0.2', '-2.5', None, '8')
    """
    if value.denominator == 1:
        return str(value.numerator)
    digits = next((n for n in range(1, MOST_DIGITS + 1) if 10**n % value.denominator == 0), None)
    if digits is None:
        return None
    number = f"{abs(value.numerator) * 10**digits // value.denominator:0{digits + 1}d}"
    return f"{'-' if value < 0 else ''}{number[:-digits]}.{number[-digits:]}"
