"""The top of a page: what was found, warnings, and the first derived cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.report.cells import Figure, image_url
from bayesnas_graph.report.headline import Headline
from bayesnas_graph.report.templates import render_template

if TYPE_CHECKING:
    from markupsafe import Markup


def overview(
    headline: Headline, damage: Sequence[Diagnostic] = (), figures: Sequence[Figure] = (), run: str = ""
) -> Markup:
    """The top of a page, with the first of some figures; `run` names the run that it is of, if there are several."""
    cell = None
    if figures:
        first = figures[0]
        size = (round(first.light.width), round(first.light.height))
        title = f"{run} · {first.title}" if run else first.title
        cell = {"title": title, "size": size, "light": image_url(first.light), "dark": image_url(first.dark)}
    return render_template("overview.html", headline=headline, damage=damage, cell=cell)
