"""The search space as an interactive graph: panels with switches, and a slider over the updates."""

from __future__ import annotations

from bayesnas_graph.report.charts.switch_history import history_caption, switch_history, switch_numbers
from bayesnas_graph.report.pictures import diagram_of, lay_out, panel_svg
from bayesnas_graph.report.pictures.style import strand_class, strand_dash
from bayesnas_graph.report.reasons import Evidence
from bayesnas_graph.report.reported_run import ReportedRun
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.switchboard import switchboard
from bayesnas_graph.report.templates import render_template, trusted

MAX_OPEN = 4  # panels that are expanded at first


def graph_section(run: ReportedRun) -> Section:
    """The network of a run and, for a search, its switches at every update."""
    if run.space is None or run.graph is None:
        return Section("graph", "Network", render_template("problems.html", problems=run.problems))
    diagram = diagram_of(run.space.network)
    page = lay_out(diagram)
    board = switchboard(run.record, run.graph, diagram, run.history, run.final, run.space.network.budgets)
    board["measure"] = run.measure
    choices_first = sorted(enumerate(page.panels), key=lambda numbered: not numbered[1].panel.choices)
    panels = [
        {
            "number": number,
            "title": placed.panel.title,
            "notes": placed.panel.notes,
            "svg": trusted(panel_svg(placed, diagram)),
            "rows": board["panels"][number]["rows"],
            "open": position < MAX_OPEN,
        }
        for position, (number, placed) in enumerate(choices_first)
    ]
    body = render_template(
        "graph.html",
        panels=panels,
        moments=board["moments"],
        measure=run.measure,
        switches=len(board["switches"]),
        colours=[(name, strand_class(number), strand_dash(number)) for name, number in diagram.colours.items()],
    )
    title = "Search space, update by update" if board["switches"] else "Network"
    return Section("graph", title, body, data={"graph": board, **_charts(run, board["evidence"])})


def _charts(run: ReportedRun, evidence: Evidence) -> dict[str, object]:
    """The charts of a single switch, which a script fills."""
    updates = sorted({moment.iteration for moments in run.history.values() for moment in moments})
    return {
        "history": switch_history(evidence, updates),
        "history_caption": history_caption(evidence),
        "numbers": switch_numbers(evidence, updates),
    }
