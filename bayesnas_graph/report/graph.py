"""The space as a graph that can be moved through the search: panels, a slider, and the switches in them."""

from __future__ import annotations

from bayesnas_graph.report.charts.history import switch_history
from bayesnas_graph.report.html import filled
from bayesnas_graph.report.pictures import diagram_of, lay_out, panel_svg
from bayesnas_graph.report.pictures.style import strand_class, strand_dash
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story
from bayesnas_graph.report.switchboard import switchboard

MOST_OPEN = 4  # panels that are shown at once; the others are opened by a click


def graph_section(story: Story) -> Section:
    """What may stand where, what was open at which update, and what is left."""
    from markupsafe import Markup

    if story.space is None or story.graph is None:
        return Section("graph", "The network", filled("problems.html", problems=story.problems))
    diagram = diagram_of(story.space.network)
    page = lay_out(diagram)
    board = switchboard(story.found, story.graph, diagram, story.history, story.final)
    board["measure"] = story.measure
    panels = [
        {
            "title": placed.panel.title,
            "notes": placed.panel.notes,
            "svg": Markup(panel_svg(placed, diagram)),
            "rows": board["panels"][number]["rows"],
            "open": number < MOST_OPEN,
        }
        for number, placed in enumerate(page.panels)
    ]
    body = filled(
        "graph.html",
        panels=panels,
        moments=board["moments"],
        measure=story.measure,
        switches=len(board["switches"]),
        colours=[(name, strand_class(number), strand_dash(number)) for name, number in diagram.colours.items()],
    )
    title = "The space, update by update" if board["switches"] else "The network"
    return Section("graph", title, body, data={"graph": board, "history": switch_history(story.measure)})
