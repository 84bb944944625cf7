"""SVG charts of repeated measurements: a dot for each value, and a mark at the median."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from statistics import median

from benchmarks.axis import COLORS, opening, steps

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 640, 210, 24, 12, 46
ROW, HEADING = 26, 24

Rows = Mapping[str, Sequence[float]]


def dots(groups: Mapping[str, Rows], label: str, reference: float | None = None) -> str:
    """A line of dots for each row of each group, over one axis, with a dashed line at `reference`.

    A row has the same colour in all groups. A group without a name has no heading.
    """
    values = [value for rows in groups.values() for some in rows.values() for value in some]
    ticks = steps(min([*values, *_given(reference)]), max([*values, *_given(reference)]))
    height = TOP + sum(HEADING * bool(group) + ROW * len(rows) for group, rows in groups.items()) + BOTTOM
    floor = height - BOTTOM

    def place(value: float) -> float:
        return round(LEFT + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (WIDTH - LEFT - RIGHT), 1)

    parts = [opening(WIDTH, height, label)]
    for x, text in ((place(tick), f"{tick:g}") for tick in ticks):
        parts.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{floor}"/>')
        parts.append(f'<text x="{x}" y="{floor + 18}" text-anchor="middle">{text}</text>')
    for x in map(place, _given(reference)):
        parts.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{floor}" stroke-dasharray="4 3" style="stroke:#8b949e"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{height - 8}" text-anchor="middle">{escape(label)}</text>')
    colors = dict(zip(dict.fromkeys(name for rows in groups.values() for name in rows), cycle(COLORS), strict=False))
    y = TOP
    for group, rows in groups.items():
        if group:
            y += HEADING
            parts.append(
                f'<text x="{LEFT - 12}" y="{y - 6}" text-anchor="end" style="font-weight:600">{escape(group)}</text>'
            )
        for name, some in rows.items():
            parts.append(f'<text x="{LEFT - 12}" y="{y + 17}" text-anchor="end">{escape(name)}</text>')
            parts += _row([place(value) for value in some], place(median(some)), y + ROW // 2, colors[name])
            y += ROW
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(places: Sequence[float], middle: float, y: int, color: str) -> list[str]:
    """A bar from the smallest to the largest value, the values on it, and the median."""
    left, width = min(places), round(max(places) - min(places), 1)
    return [
        f'<rect x="{left}" y="{y - 1}" width="{width}" height="2" fill="{color}" opacity="0.5"/>',
        *(f'<circle cx="{x}" cy="{y}" r="3" fill="{color}" opacity="0.5"/>' for x in places),
        f'<rect x="{round(middle - 2, 1)}" y="{y - 8}" width="4" height="16" rx="1" fill="{color}"/>',
    ]


def _given(reference: float | None) -> list[float]:
    return [] if reference is None else [reference]
