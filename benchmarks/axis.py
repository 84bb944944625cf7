"""Shared parts of SVG charts: colours, opening tag, and axis ticks."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log10

COLORS = ("#1f6feb", "#d1603d", "#2da44e", "#a371f7", "#bf8700")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#57606a}line{stroke:#d0d7de}"
    "@media(prefers-color-scheme:dark){text{fill:#8b949e}line{stroke:#30363d}}"
)


def opening(width: float, height: float, label: str) -> str:
    """The opening of an SVG that works on light and dark pages."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}"><style>{STYLE}</style>'
    )


def steps(low: float, high: float, most: int = 8) -> list[float]:
    """Evenly spaced round numbers that enclose a range.

    >>> steps(0.3, 2.9, 4)
    [0.0, 1.0, 2.0, 3.0]
    """
    size = 10.0 ** floor(log10((high - low) or 1) - 1)
    while ceil(high / size) - floor(low / size) > most - 1:
        size *= 2.5 if f"{size:e}".startswith("2") else 2
    return [round(number * size, 10) for number in range(floor(low / size), ceil(high / size) + 1)]
