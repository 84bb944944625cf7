"""Numbers with as many digits as a page needs."""

from __future__ import annotations

from math import isfinite
from typing import Any

DIGITS = 4  # significant


def rounded(value: object) -> Any:
    """Numbers, possibly nested in lists, rounded to `DIGITS`; None for those that JSON lacks.

    >>> rounded([0.123456, float("nan"), 17])
    [0.1235, None, 17]
    """
    if isinstance(value, tuple | list):
        return [rounded(item) for item in value]
    if not isinstance(value, float):
        return value
    if not isfinite(value):
        return None
    return int(value) if value.is_integer() else float(f"{value:.{DIGITS}g}")
