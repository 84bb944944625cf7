"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 100  # characters of a name that is worth comparing


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `name`, or None if none is similar.

    >>> nearest("sep_convv", ["sep_conv", "dil_conv", "skip"])
    'sep_conv'
    """
    if len(name) > LONGEST:
        return None
    candidates = sorted({candidate for candidate in known if len(candidate) <= LONGEST})
    by_case = {candidate.lower(): candidate for candidate in candidates}
    if name.lower() in by_case:
        return by_case[name.lower()]
    matches = get_close_matches(name, candidates, n=1, cutoff=0.7)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A help text that suggests the nearest known name, if any."""
    return suggestion(nearest(name, known))


def suggestion(match: str | None) -> str | None:
    """A help text that suggests a name, if there is one."""
    return f"did you mean `{match}`?" if match else None
