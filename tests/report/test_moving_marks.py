"""The marks beside the text of a space, update by update."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.passes import prune
from bayesnas_graph.report.line_marks import mark_lines, mark_lines_over_time
from bayesnas_graph.report.listing import sign_of
from bayesnas_graph.report.moving_marks import changes, marks_by_moment
from bayesnas_graph.report.reported_run import read_reported_run
from tests.report.runs import begun, searched

FILE, LINE = "<shipped>/quickstart.nas", 27  # of the choice


def test_marks_are_those_of_the_switches_that_are_open(quickstart: Path) -> None:
    run = read_reported_run(quickstart)
    assert run.graph is not None
    moments = marks_by_moment(run)
    assert len(moments) == 6
    for update, marks in enumerate(moments):
        closed = {
            name: moment.why
            for name, history in run.history.items()
            for moment in history
            if not moment.keep and moment.iteration <= update
        }
        expected = mark_lines(run.graph, closed)
        assert {line: sign_of(mark) for line, mark in marks.items()} == {
            line: sign_of(mark) for line, mark in expected.items()
        }
    assert sign_of(moments[0][FILE, LINE]) == "+"
    assert sign_of(moments[-1][FILE, LINE]).startswith("~ ")


def test_only_changes_are_listed(quickstart: Path) -> None:
    moments = marks_by_moment(read_reported_run(quickstart))
    found = changes(FILE, moments)
    for (file, line), mark in moments[3].items():
        if file == FILE:
            _, *shown = [one for one in found[line] if one[0] <= 3][-1]
            assert tuple(shown) == (mark.state, mark.kept, mark.of)
    assert [one[0] for one in found[LINE]] == sorted({one[0] for one in found[LINE]})
    assert all(before[1:] != after[1:] for one in found.values() for before, after in pairwise(one))
    assert changes("another file", moments) == {}


def test_a_run_without_updates_has_none(tmp_path: Path) -> None:
    begun(tmp_path / "run", load_network(Path("quickstart")), "quickstart")
    assert marks_by_moment(read_reported_run(tmp_path / "run")) == []


def test_while_nothing_is_left_marks_stay(tmp_path: Path) -> None:
    """A run may be damaged: what its tables call closed need not leave a network."""
    graph = read_reported_run(searched(tmp_path / "run")).graph
    assert graph is not None
    every = {gate.group for gate in graph.gates}
    one = {"block:h.0.identity"}
    before, broken = mark_lines_over_time(graph, [one, every])
    assert before == broken
    assert prune(graph, one)
