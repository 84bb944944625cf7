"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table whose first `words` columns are text, and the others numbers.

    >>> print(table(["form", "ms"], [["fused", "1.2"]]), end="")
    | form | ms |
    |---|---:|
    | fused | 1.2 |
    """
    rule = "|" + "---|" * words + "---:|" * (len(head) - words)
    lines = [_line(head), rule, *map(_line, rows)]
    return "\n".join(lines) + "\n"


def spread(values: Sequence[float], form: str = ".2f", to: str = "-") -> str:
    """The median and the range.

    >>> spread([0.3, 0.1, 0.2], ".1f")
    '0.2 (0.1-0.3)'
    """
    return f"{median(values):{form}} ({min(values):{form}}{to}{max(values):{form}})"


def ratios(base: Sequence[float], own: Sequence[float]) -> list[float]:
    """The ratio of the two in each round."""
    return [whole / part for whole, part in zip(base, own, strict=True)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
