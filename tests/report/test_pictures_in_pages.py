"""Pictures in a real browser: inside other pages, and under the pointer."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bayesnas_graph import api
from bayesnas_graph.report.notebook import Card, network_svg
from bayesnas_graph.report.pictures import diagram_of, lay_out, merge_alike, svg_text
from bayesnas_graph.report.pictures.style import HIGHLIGHT
from tests.browser import opened

CELL = 700  # the width of an output cell, in pixels
NOTEBOOK = """<!doctype html><meta charset="utf-8">
<style>.output {{ width: {width}px; overflow: hidden; }} body {{ margin: 0; }}</style>
<svg width="10" height="10"><rect id="other" class="page" width="9" height="9"/></svg>
<div class="output">{svg}</div>
<div class="output">{card}</div>
"""
BOXES = """() => [...document.querySelectorAll(".output")].map((cell) => {
    const picture = cell.querySelector("svg, img").getBoundingClientRect();
    return [picture.right, picture.width / picture.height, cell.scrollWidth, cell.scrollHeight - cell.clientHeight];
})"""
STROKES = """(mark) => {
    const { key } = mark.closest("[data-key]").dataset;
    return [...mark.closest(".contents").querySelectorAll("[data-from]")].map((wire) => [
        wire.dataset.from === key || wire.dataset.to.split(" ").includes(key), getComputedStyle(wire).stroke,
    ]);
}"""


@pytest.mark.parametrize("name", ["quickstart", "darts"])
def test_a_picture_in_a_notebook_is_not_cut(browser: Browser, tmp_path: Path, name: str) -> None:
    """As in JupyterLab and in pages made by nbconvert, where an output cell hides what is wider than it is."""
    network = api.load(name)
    page = lay_out(merge_alike(diagram_of(network)))
    assert page.width > CELL
    svg = network_svg(network)
    assert svg is not None
    card = Card("Network", (), (), picture=svg).html()
    (tmp_path / "notebook.html").write_text(NOTEBOOK.format(width=CELL, svg=svg, card=card), encoding="utf-8")
    with opened(browser, tmp_path / "notebook.html") as found:
        sizes = found.page.evaluate(BOXES)
        assert len(sizes) == 2
        for right, _, width, hidden in sizes:
            assert right <= CELL
            assert width <= CELL
            assert hidden <= 0
        assert all(ratio == pytest.approx(page.width / page.height, rel=0.01) for _, ratio, _, _ in sizes)
        other = found.page.evaluate("getComputedStyle(document.getElementById('other')).fill")
        assert other == "rgb(0, 0, 0)", "the style of the picture is only for the picture"
        own = found.page.evaluate("getComputedStyle(document.querySelector('.output .page')).fill")
        assert own != other


def test_the_wires_of_what_is_pointed_at_are_highlighted(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "picture.svg").write_text(svg_text(lay_out(diagram_of(api.load("quickstart")))), encoding="utf-8")
    red, green, blue = (int(HIGHLIGHT[at : at + 2], 16) for at in (1, 3, 5))
    colour = f"rgb({red}, {green}, {blue})"
    with opened(browser, tmp_path / "picture.svg") as found:
        for kind in (".vertex", ".candidate"):
            mark = found.page.locator(f".contents:has(.candidate) {kind} text").nth(1)
            mark.hover()
            strokes = mark.evaluate(STROKES)
            assert {stroke for own, stroke in strokes if own} == {colour}
            assert colour not in {stroke for own, stroke in strokes if not own}
        assert not found.complaints
