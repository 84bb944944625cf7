"""What was derived, as figures that can go into a paper."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

from bayesnas_graph.report.html import filled
from bayesnas_graph.report.pictures import Picture, converted, diagram_of, figure_of, ink, settled_diagram
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story

MOST = 24  # figures of a page
COLUMN = 760  # pixels that a figure beside another may have; it is shown smaller there, and can still be read


@dataclass(frozen=True)
class Figure:
    """A derived cell, or another panel with what is left of its choices."""

    key: str  # the name of its files
    title: str
    notes: tuple[str, ...]
    light: Picture
    dark: Picture

    def pdf(self) -> bytes:
        """For a paper."""
        return converted(self.light, "pdf")


def figures_of(story: Story) -> list[Figure]:
    """A figure for every panel with choices; none if nothing was derived, or if the space cannot be read."""
    if story.space is None or story.graph is None or not story.final:
        return []
    kept = {gate.name for gate in story.graph.gates if gate.group in story.final and story.final[gate.group].keep}
    whole = diagram_of(story.space.network)
    diagram = settled_diagram(whole, kept)
    found: dict[str, Figure] = {}
    for panel in diagram.panels:
        if panel.choices:
            key = _key(panel.title, found)
            light, dark = figure_of(panel, diagram, ink()), figure_of(panel, diagram, ink(dark=True))
            found[key] = Figure(key, panel.title, panel.notes, light, dark)
    return list(found.values())


def _key(title: str, taken: Collection[str]) -> str:
    """A name for files that is not taken, whether or not capitals count there.

    >>> _key("cell Block", []), _key("cell block", ["cell-block"])
    ('cell-block', 'cell-block-2')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return next(key for n in count(1) if (key := plain if n == 1 else f"{plain}-{n}") not in taken)


def file_stem(figure: Figure, run: str = "") -> str:
    """What the files of a figure are called; with the name of its run, where there are several."""
    return f"{run.replace('/', '-')}-{figure.key}" if run else figure.key


def cells_section(*stories: Story, left_out: int = 0) -> Section:
    """The figures of a run; of several, each cell of all of them side by side. Some runs may have been left out."""
    runs = {story.label if len(stories) > 1 else "": figures_of(story) for story in stories}
    cells = dict.fromkeys(figure.key for figures in runs.values() for figure in figures[:MOST])
    order = [(run, figure) for key in cells for run, own in runs.items() for figure in own if figure.key == key]
    shown = [_shown(figure, run, alone=len(order) == 1) for run, figure in order]
    more = sum(max(0, len(figures) - MOST) for figures in runs.values())
    return Section("cells", "Derived cells", filled("cells.html", figures=shown, more=more, left_out=left_out))


def _shown(figure: Figure, run: str, *, alone: bool) -> dict[str, object]:
    return {
        "title": f"{run} · {figure.title}" if run else figure.title,
        "notes": figure.notes,
        "file": file_stem(figure, run),
        "is_wide": alone or figure.light.width > COLUMN,
        "light": _link("image/svg+xml", figure.light.svg.encode()),
        "dark": _link("image/svg+xml", figure.dark.svg.encode()),
        "pdf": _link("application/pdf", figure.pdf()),
    }


def _link(kind: str, content: bytes) -> str:
    """An address that is the file itself."""
    return f"data:{kind};base64,{b64encode(content).decode()}"
