"""Every golden/<case>.nas, drawn, must give <case>.svg, .dot and .mmd, and its last panel .figure.svg.

`pytest --update-golden` rewrites them; look at the pictures before committing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import Report, render
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.report.pictures import diagram_of, dot_text, figure_of, ink, lay_out, mermaid_text, svg_text

CASES = sorted((Path(__file__).parent / "golden").glob("*.nas"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    report = Report()
    space = Checker(report).path(case, case.name)
    assert space is not None
    assert not report.diagnostics, "\n".join(map(render, report.diagnostics))
    diagram = diagram_of(space.networks[0])
    drawn = {".svg": svg_text(lay_out(diagram)), ".dot": dot_text(diagram), ".mmd": mermaid_text(diagram)}
    drawn[".figure.svg"] = figure_of(diagram.panels[-1], diagram, ink()).svg
    for ending, actual in drawn.items():
        expected = case.with_suffix(ending)
        if update_golden:
            expected.write_text(actual, encoding="utf-8")
        assert actual == expected.read_text(encoding="utf-8")
    assert case.read_text().startswith("//"), "say why the case exists"


def test_the_picture_in_the_tour(update_golden: bool) -> None:
    """docs/example.svg is a picture of the first space in docs/tour.md."""
    root = Path(__file__).parents[3]
    text = (root / "docs" / "tour.md").read_text(encoding="utf-8").split("```nas\n")[1].split("```")[0]
    space = Checker(Report()).text(Source("example.nas", text))
    actual = svg_text(lay_out(diagram_of(space.networks[0])))
    picture = root / "docs" / "example.svg"
    if update_golden:
        picture.write_text(actual, encoding="utf-8")
    assert actual == picture.read_text(encoding="utf-8")
