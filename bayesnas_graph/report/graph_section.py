"""The search space as an interactive graph: panels with switches, and a slider over the updates."""

from __future__ import annotations

from bayesnas_graph.report.charts.switch_history import switch_history
from bayesnas_graph.report.pictures import diagram_of, lay_out, panel_svg
from bayesnas_graph.report.pictures.style import strand_class, strand_dash
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story
from bayesnas_graph.report.switchboard import switchboard
from bayesnas_graph.report.templates import render_template

MAX_OPEN = 4  # panels that are expanded at first


def graph_section(story: Story) -> Section:
    """The network of a run and, for a search, its switches at every update."""
    from markupsafe import Markup

    if story.space is None or story.graph is None:
        return Section("graph", "Network", render_template("problems.html", problems=story.problems))
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
            "open": number < MAX_OPEN,
        }
        for number, placed in enumerate(page.panels)
    ]
    body = render_template(
        "graph.html",
        panels=panels,
        moments=board["moments"],
        measure=story.measure,
        switches=len(board["switches"]),
        colours=[(name, strand_class(number), strand_dash(number)) for name, number in diagram.colours.items()],
    )
    title = "Search space, update by update" if board["switches"] else "Network"
    return Section("graph", title, body, data={"graph": board, "history": switch_history(story.measure)})
