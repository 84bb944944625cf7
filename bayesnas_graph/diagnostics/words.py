"""Words in messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form.

    >>> counted(1, "use"), counted(1200, "switch"), counted(0, "box")
    ('1 use', '1,200 switches', '0 boxes')
    """
    ending = "" if number == 1 else "es" if noun.endswith(("ch", "x")) else "s"
    return f"{number:,} {noun}{ending}"


def at_least(number: int, is_lower_bound: bool) -> str:
    """A number that may be a lower bound.

    >>> at_least(1200, False), at_least(1200, True)
    ('1,200', 'at least 1,200')
    """
    return f"at least {number:,}" if is_lower_bound else f"{number:,}"
