"""SVG charts of points over a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from statistics import fmean

from benchmarks.axis import COLORS, opening, steps

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48


@dataclass(frozen=True)
class Point:
    """A point of a chart."""

    x: float
    y: float


def curve(series: Mapping[str, Sequence[Sequence[Point]]], x_label: str, y_label: str) -> str:
    """A chart of series of clustered points, with a line through the cluster means of each series."""
    points = [point for clusters in series.values() for some in clusters for point in some]
    low, high = min(log10(p.x) for p in points) - 0.05, max(log10(p.x) for p in points) + 0.05
    heights = steps(min(p.y for p in points), max(p.y for p in points), 10)
    bottom, top = heights[0], heights[-1]

    def place(point: Point) -> tuple[float, float]:
        x = LEFT + (log10(point.x) - low) / (high - low) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (point.y - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    parts = [opening(WIDTH, HEIGHT, f"{y_label} over {x_label}")]
    for height in heights:
        _, y = place(Point(10**low, height))
        parts.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{height:.1f}</text>')
    for value in _ticks(10**low, 10**high):
        x, _ = place(Point(value, bottom))
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{_short(value)}</text>')
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>'
    )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>')
    for number, ((name, clusters), color) in enumerate(zip(series.items(), COLORS, strict=False)):
        some = [point for cluster in clusters for point in cluster]
        line = " ".join(f"{x},{y}" for x, y in map(place, map(_mean, clusters)))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="4" fill="{color}"/>' for x, y in map(place, some)]
        y = TOP + 16 + 20 * number
        parts.append(f'<circle cx="{WIDTH - 150}" cy="{y - 4}" r="4" fill="{color}"/>')
        parts.append(f'<text x="{WIDTH - 138}" y="{y}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _mean(points: Sequence[Point]) -> Point:
    return Point(fmean(p.x for p in points), fmean(p.y for p in points))


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    return [m * 10.0**p for p in powers for m in (1, 1.5, 2, 3, 4, 5, 7) if low <= m * 10.0**p <= high]


def _short(value: float) -> str:
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} K" if value >= 1e3 else f"{value:g}"
