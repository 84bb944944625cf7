"""Line marks agree with the remaining graph, and their numbers add up."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Zero
from bayesnas_graph.language.elaborate import Checker, Limits, load_network
from bayesnas_graph.passes import Disconnected, Misfit, prune
from bayesnas_graph.report.line_marks import MAX_CANDIDATE, MAX_NAMES, LineMark, Marks, mark_lines
from tests.helpers import graph as graph_of
from tests.programs import programs

SIMPLE = """\
// a comment
set candidates = {
    conv(3, 3),
    conv(3, 5),
    identity,  // which no node stands for
}

motif unused {
    in x
    x -> out : relu
}

motif deep {
    in x
    x -> out : relu > bn
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = x : choose candidates
    node b = x : optional deep

    x -> out : deep
    a -> out
    b -> out
}
"""


def switched(text: str, mode: passes.Mode = "written") -> Graph:
    return passes.run(graph_of(text), passes.SWITCHES, passes.Options(mode=mode))


def states(marks: Marks) -> dict[int, str]:
    """The lines of the only file with their signs and numbers."""
    return {line: f"{mark.state} {mark.kept}/{mark.of}" for (_, line), mark in sorted(marks.items())}


def closed(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "own switch off")


def test_with_all_switches_open_everything_stays_that_is_used() -> None:
    marks = mark_lines(switched(SIMPLE), {})
    assert states(marks) == {
        3: "kept 1/1",
        4: "kept 1/1",
        5: "kept 1/1",
        15: "kept 4/4",  # two operations in each of two uses
        20: "kept 3/3",
        21: "kept 1/1",
        23: "kept 2/2",
    }


def test_a_candidate_is_marked_on_its_own_line_and_on_that_of_its_choice() -> None:
    marks = mark_lines(switched(SIMPLE), closed("a.conv_5", "a.identity"))
    assert states(marks) == {
        3: "kept 1/1",
        4: "gone 0/1",
        5: "gone 0/1",
        15: "kept 4/4",
        20: "partly 1/3",
        21: "kept 1/1",
        23: "kept 2/2",  # the use, and the sum at its `out`
    }
    assert marks["test.nas", 20].notes == (
        "1 of 3 switches left",
        "+ a.conv_3",
        "− a.conv_5: own switch off",
        "− a.identity: own switch off",
    )


def test_a_use_that_is_gone_leaves_the_lines_of_the_motif_to_other_uses() -> None:
    marks = mark_lines(switched(SIMPLE), closed("b"))
    assert marks["test.nas", 21].state == "gone"
    assert marks["test.nas", 15] == LineMark(
        "partly", 2, 4, ("2 of 4 operations left", "+ out.x.relu", "+ out.x.bn", *_gone("b.deep.relu", "b.deep.bn"))
    )


def _gone(*names: str) -> tuple[str, ...]:
    return tuple(f"− {name}: leads nowhere" for name in names)


def test_a_closed_zero_switch_closes_its_choice_and_counts_nowhere() -> None:
    marks = mark_lines(switched(SIMPLE), closed("a.zero"))
    assert {line: state for line, state in states(marks).items() if line in (3, 4, 5, 20)} == {
        3: "gone 0/1",
        4: "gone 0/1",
        5: "gone 0/1",
        20: "gone 0/3",
    }


def test_candidates_on_one_line_are_distinguished() -> None:
    long = "bn > " * 30 + "relu"
    text = f"""\
set s = {{ relu, bn, {long} }}
network n : image(3, 8, 8) -> image(3, 8, 8) {{
    in x
    node a = x : choose s
    node b = x : choose s
    out sum(a, b)
}}
"""
    mark = mark_lines(switched(text), closed("a.relu", "a.bn", "b.bn"))["test.nas", 1]
    assert (mark.state, mark.kept, mark.of) == ("partly", 3, 6)
    assert mark.notes[:4] == (
        "3 of 6 switches left",
        "relu: 1 of 2",
        "bn: 0 of 2",
        f"{long[: MAX_CANDIDATE - 3]}...: 2 of 2",
    )


def test_a_line_that_something_goes_on_in_is_marked_by_it() -> None:
    text = """\
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = x : choose {
        relu,

        // why
        conv(
            3
        ),
    }
    x -> out : bn
    a -> out
}
"""
    marks = mark_lines(switched(text), closed("a.conv"))
    assert states(marks) == {
        3: "partly 1/2",
        4: "kept 1/1",
        7: "gone 0/1",
        8: "gone 0/1",
        9: "gone 0/1",
        10: "partly 1/2",
        11: "kept 2/2",
    }


def test_what_stays_on_a_line_whose_switches_are_gone_is_part_of_it() -> None:
    text = "network n : image(3, 8, 8) -> image(3, 8, 8) { in x x -> out : bn x -> out : choose { relu, tanh } }"
    mark = mark_lines(switched(text), closed("out.x.relu", "out.x.tanh", "out.x_2.relu", "out.x_2.tanh"))["test.nas", 1]
    assert (mark.state, mark.kept, mark.of) == ("partly", 0, 2)


def test_many_names_are_cut_short() -> None:
    text = f"""\
network n : image(3, 8, 8) -> image(3, 8, 8) {{
    in x
    for i in 0..{MAX_NAMES + 5} {{
        x -> out : bn
    }}
}}
"""
    mark = mark_lines(switched(text), {})["test.nas", 4]
    assert (mark.of, len(mark.notes), mark.notes[-1]) == (MAX_NAMES + 6, MAX_NAMES + 2, "and 6 more")  # with the sum


def test_what_falls_apart_has_no_marks() -> None:
    with pytest.raises(Disconnected):
        mark_lines(
            switched("network n : image(3, 8, 8) -> image(3, 8, 8) { in x x -> out : optional bn }"), closed("optional")
        )


@pytest.mark.parametrize("mode", ["written", "proxy", "proxyless"])
def test_the_lines_of_candidates_have_each_switch_once(mode: passes.Mode) -> None:
    space = load_network(Path("darts"), "search")
    graph = passes.run(space.network.graph(), passes.SWITCHES, passes.Options(mode=mode))
    marks = mark_lines(graph, {})
    lines = space.modules[0].file.source.text.split("\n")
    listed = [n for n, line in enumerate(lines, 1) if line.startswith("    ") and line.endswith("affine),")]
    chosen = [n for n, line in enumerate(lines, 1) if "choose candidates" in line]
    switches = len(_switches(graph))
    for numbers in (listed, chosen):
        assert numbers
        assert sum(marks["<shipped>/darts.nas", n].of for n in numbers) == switches


def _switches(graph: Graph) -> set[str]:
    """Without zero switches."""
    return {e.gate.group for e in graph.edges if e.gate is not None and not isinstance(graph[e.target].op, Zero)}


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_closing_everything_of_a_choice_marks_its_line_gone(is_closed: list[bool]) -> None:
    choices = "\n".join(f"node a{i} = x : choose {{ relu, tanh > bn }}" for i in range(len(is_closed)))
    sums = " ".join(f"a{i} -> out" for i in range(len(is_closed)))
    text = f"network n : image(3, 8, 8) -> image(3, 8, 8) {{ in x\n{choices}\nx -> out : bn {sums} }}"
    off = [f"a{i}.{name}" for i, one in enumerate(is_closed) if one for name in ("relu", "chain")]
    marks = mark_lines(switched(text), closed(*off))
    for line, one in enumerate(is_closed, 2):
        mark = marks["test.nas", line]
        assert (mark.state, mark.kept, mark.of) == (("gone", 0, 2) if one else ("kept", 2, 2))


# ------------------------------------------------------------------------- any program


def _graph(text: str) -> Graph | None:
    report = Report()
    space = Checker(report, Limits()).text(Source("test.nas", text))
    if report.has_errors or not space.networks:
        return None
    return passes.run(space.networks[0].graph(), passes.SWITCHES)


@given(programs(0.0))
def test_keeping_everything_marks_no_line_gone_nor_in_part(text: str) -> None:
    found = _graph(text)
    assume(found is not None)
    assert found is not None
    marks = mark_lines(found, {})
    assert all((mark.state, mark.kept) == ("kept", mark.of) for mark in marks.values())


@settings(max_examples=50)
@given(programs(0.0), st.randoms(use_true_random=False))
def test_marks_are_true_to_what_is_left(text: str, random: Random) -> None:
    found = _graph(text)
    assume(found is not None and found.gates)
    assert found is not None
    off = {gate.group: "why" for gate in found.gates if random.random() < 0.4}
    try:
        left = prune(found, off)
    except (Disconnected, Misfit):
        assume(False)
        raise
    marks = mark_lines(found, off)
    for mark in marks.values():
        assert 0 <= mark.kept <= mark.of
        assert mark.of > 0
        names = [note for note in mark.notes if note.startswith(("+ ", "− "))]
        assert len(names) == min(mark.of, MAX_NAMES)
        assert sum(name.startswith("+") for name in names) == min(mark.kept, MAX_NAMES)
        assert (mark.state == "kept") <= (mark.kept == mark.of)
        assert (mark.state == "gone") <= (mark.kept == 0)
    for line, expected in _choice_lines(found, _switches(left)).items():
        assert (marks["test.nas", line].kept, marks["test.nas", line].of) == expected


def _choice_lines(graph: Graph, kept: Collection[str]) -> dict[int, tuple[int, int]]:
    """The number of remaining switches on each line with choices, counted by hand."""
    lines: dict[int, set[str]] = {}
    for edge in graph.edges:
        if edge.gate is None or isinstance(graph[edge.target].op, Zero):
            continue
        for span in (edge.span, edge.gate.span):
            if span is not None and span.source.name == "test.nas":
                lines.setdefault(span.source.position(span.start)[0], set()).add(edge.gate.group)
    return {line: (len(groups & set(kept)), len(groups)) for line, groups in lines.items()}
