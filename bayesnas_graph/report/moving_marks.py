"""The marks beside the text of a space at every update of a search, as data for the slider of the page."""

from __future__ import annotations

from bayesnas_graph.report.line_marks import LineMark, Marks, mark_lines_over_time
from bayesnas_graph.report.reported_run import ReportedRun

Change = tuple[int, str, int, int]  # from which position of the slider; state, parts that are left, and of how many


def marks_by_moment(run: ReportedRun) -> list[Marks]:
    """The marks before the first update and after each; empty if there was none."""
    updates = sorted({moment.iteration for moments in run.history.values() for moment in moments})
    if run.graph is None or not updates:
        return []
    closed_at = {
        name: moment.iteration for name, moments in run.history.items() for moment in moments if not moment.keep
    }
    known = {gate.group for gate in run.graph.gates}
    closed = [{name for name, at in closed_at.items() if at <= update and name in known} for update in [0, *updates]]
    return mark_lines_over_time(run.graph, closed)


def changes(file: str, moments: list[Marks]) -> dict[int, list[Change]]:
    """The marks of each line of a file, listed where they change."""
    found: dict[int, list[Change]] = {}
    before: dict[int, LineMark] = {}
    for number, marks in enumerate(moments):
        for (name, line), mark in marks.items():
            if name == file and mark.state is not None and mark != before.get(line):
                found.setdefault(line, []).append((number, mark.state, mark.kept, mark.of))
                before[line] = mark
    return found
