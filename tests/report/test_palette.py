"""The colours of charts: distinct for colour-blind readers, and visible on their background."""

from __future__ import annotations

from itertools import combinations
from math import dist

import pytest

from bayesnas_graph.report.charts.theme import ground
from bayesnas_graph.report.palette import CATEGORICAL, DARK, LIGHT

# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: A Physiologically-based Model for Simulation of Color Vision
# Deficiency. IEEE Transactions on Visualization and Computer Graphics 15(6), 2009. Severity 1.0, on linear RGB.
DEUTERANOPIA = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)
PROTANOPIA = (
    (0.152286, 1.052583, -0.204868),
    (0.114503, 0.786281, 0.099216),
    (-0.003882, -0.048116, 1.051998),
)
XYZ = (  # of linear sRGB, relative to the white point D65
    (0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883),
)
DIFFERENCE = 13.0  # in CIELAB (CIE76); one that is just noticeable is 2.3
CONTRAST = 3.0  # of graphics, in WCAG 2.2

Vector = tuple[float, ...]


def linear(colour: str) -> Vector:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def times(matrix: tuple[Vector, ...], vector: Vector) -> Vector:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def lab(rgb: Vector) -> Vector:
    x, y, z = (
        part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116
        for part in times(XYZ, tuple(min(1, max(0, part)) for part in rgb))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(colour: str, other: str) -> float:
    darker, brighter = sorted(times(XYZ, linear(one))[1] for one in (colour, other))
    return (brighter + 0.05) / (darker + 0.05)


def test_the_measures_have_their_known_values() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert lab(linear("#ff0000")) == pytest.approx((53.24, 80.09, 67.20), abs=0.05)
    red, green = (lab(times(DEUTERANOPIA, linear(colour))) for colour in ("#c00000", "#616100"))
    assert dist(red, green) < DIFFERENCE < dist(lab(linear("#c00000")), lab(linear("#616100")))


@pytest.mark.parametrize("matrix", [DEUTERANOPIA, PROTANOPIA], ids=["deuteranopia", "protanopia"])
@pytest.mark.parametrize("theme", CATEGORICAL)
def test_colours_differ_for_colour_blind_readers(theme: str, matrix: tuple[Vector, ...]) -> None:
    seen = {colour: lab(times(matrix, linear(colour))) for colour in CATEGORICAL[theme]}
    closest = min(combinations(seen, 2), key=lambda pair: dist(seen[pair[0]], seen[pair[1]]))
    assert dist(seen[closest[0]], seen[closest[1]]) >= DIFFERENCE, closest


@pytest.mark.parametrize("theme", CATEGORICAL)
def test_colours_differ_from_the_background(theme: str) -> None:
    for colour in CATEGORICAL[theme]:
        assert contrast(colour, ground(theme == "dark")) >= CONTRAST, colour


def test_both_themes_have_as_many_colours() -> None:
    assert len(LIGHT) == len(DARK) == len({*LIGHT}) == len({*DARK})
