"""Figures of the derived cells, fit for a paper."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count
from urllib.parse import quote

from bayesnas_graph.report.pictures import Picture, converted, diagram_of, figure_of, ink, merge_alike, prune_diagram
from bayesnas_graph.report.reported_run import ReportedRun
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.templates import render_template

MAX_FIGURES = 24
_UNQUOTED = " !$()*+,-./:;=?@_~"
COLUMN = 760  # widest figure, in pixels, that stays readable when scaled down to half a page


@dataclass(frozen=True)
class Figure:
    """A derived cell, or another panel with its remaining choices."""

    key: str  # its file name
    title: str
    notes: tuple[str, ...]
    light: Picture
    dark: Picture

    def pdf(self) -> bytes:
        """The figure as PDF."""
        return converted(self.light, "pdf")


def figures_of(run: ReportedRun) -> list[Figure]:
    """A figure for every panel with choices; none if nothing was derived or the space cannot be read."""
    if run.space is None or run.graph is None or not run.final:
        return []
    kept = {gate.name for gate in run.graph.gates if gate.group in run.final and run.final[gate.group].keep}
    diagram = merge_alike(prune_diagram(diagram_of(run.space.network), kept))
    figures: dict[str, Figure] = {}
    for panel in diagram.panels:
        if panel.choices:
            key = _key(panel.title, figures)
            light, dark = figure_of(panel, diagram, ink()), figure_of(panel, diagram, ink(dark=True))
            figures[key] = Figure(key, panel.title, panel.notes, light, dark)
    return list(figures.values())


def _key(title: str, taken: Collection[str]) -> str:
    """An unused file name, in lower case because some file systems ignore case.

    >>> _key("cell Block", []), _key("cell block", ["cell-block"])
    ('cell-block', 'cell-block-2')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return next(key for n in count(1) if (key := plain if n == 1 else f"{plain}-{n}") not in taken)


def file_stem(figure: Figure, run: str = "") -> str:
    """The file name of a figure without its suffix; begins with the label of the run if there are several."""
    return f"{run.replace('/', '-')}-{figure.key}" if run else figure.key


def cells_section(*runs: ReportedRun, left_out: int = 0) -> Section:
    """The figures of one or more runs, with the same cell of all runs side by side."""
    by_run = {run.label if len(runs) > 1 else "": figures_of(run) for run in runs}
    cells = dict.fromkeys(figure.key for own in by_run.values() for figure in own[:MAX_FIGURES])
    order = [(label, figure) for key in cells for label, own in by_run.items() for figure in own if figure.key == key]
    figures = [_template_values(figure, label, alone=len(order) == 1) for label, figure in order]
    more = sum(max(0, len(own) - MAX_FIGURES) for own in by_run.values())
    body = render_template("cells.html", figures=figures, more=more, left_out=left_out)
    return Section("cells", "Derived cells", body)


def _template_values(figure: Figure, run: str, *, alone: bool) -> dict[str, object]:
    return {
        "title": f"{run} · {figure.title}" if run else figure.title,
        "notes": figure.notes,
        "file": file_stem(figure, run),
        "is_wide": alone or figure.light.width > COLUMN,
        "size": (round(figure.light.width), round(figure.light.height)),
        "light": image_url(figure.light),
        "dark": image_url(figure.dark),
        "pdf": f"data:application/pdf;base64,{b64encode(figure.pdf()).decode()}",
    }


def image_url(picture: Picture) -> str:
    """The picture as the address of an image, shorter than in base64."""
    return f"data:image/svg+xml,{quote(picture.svg, safe=_UNQUOTED)}"
