"""Colours of candidates: visible, and never the same for two of them."""

from __future__ import annotations

import pytest

from bayesnas_graph.report.palette import CATEGORICAL
from bayesnas_graph.report.pictures.style import DARK_INKS, DASHES, LIGHT_INKS, strand_class, strand_dash

VISIBLE = 3.0  # the contrast that WCAG asks of lines


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("theme", "ground"), [("light", LIGHT_INKS["panel"]), ("dark", DARK_INKS["panel"])])
def test_every_colour_is_visible(theme: str, ground: str) -> None:
    for colour in CATEGORICAL[theme]:
        low, high = sorted((luminance(colour), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= VISIBLE, colour


def test_more_candidates_than_colours_are_dashed() -> None:
    count = len(CATEGORICAL["light"]) * len(DASHES)
    assert len({(strand_class(number), strand_dash(number)) for number in range(count)}) == count
    assert not any(strand_dash(number) for number in range(len(CATEGORICAL["light"])))
