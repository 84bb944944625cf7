"""Writing JSON. It has no infinities and no NaN: they become null."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any


def json_text(content: object, *, ascii: bool = True) -> str:
    """Return a value as indented JSON, which every program can read.

    >>> json_text([1.5, float("nan"), {"loss": float("inf")}]).split()
    ['[', '1.5,', 'null,', '{', '"loss":', 'null', '}', ']']
    """
    return json.dumps(finite(content), indent=2, ensure_ascii=ascii, allow_nan=False)


def finite(content: Any) -> Any:
    """Return a value of dictionaries, lists, strings and numbers with None for every number that is not finite."""
    if isinstance(content, float):
        return content if isfinite(content) else None
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return content
