"""All NAS-Bench-201 cells survive the conversion to switches and back."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations import Cell, cell_of, parse_cell
from bayesnas_graph.language.notations.nasbench201 import NASBENCH201, groups_of
from bayesnas_graph.passes.analysis import cost
from tests.language.notations.shipped import DARTS_V2, compiled, elaborated, groups

NAMES = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
TEXT = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|nor_conv_1x1~1|avg_pool_3x3~2|"


def small() -> Graph:
    return compiled("nasbench201", cells=1, width=4)


def test_all_cells_survive() -> None:
    seen = set()
    for a, b, c, d, e, f in product(NAMES, repeat=6):
        text = f"|{a}~0|+|{b}~0|{c}~1|+|{d}~0|{e}~1|{f}~2|"
        kept = groups_of(parse_cell(text), small())
        assert str(cell_of(kept, small())) == text
        seen.add(kept)
    assert len(seen) == 15_625


def test_switches_of_a_cell() -> None:
    edges = ["h.0.nor_conv_3", "h.1.h_0.identity", "h.2.h_0.nor_conv_1", "h.2.h_1.avg_pool"]
    zeros = [f"{edge.rpartition('.')[0]}.zero" for edge in edges]
    kept = groups_of(parse_cell(TEXT), small())
    assert kept == {f"dense:{name}" for name in (*edges, *zeros)}
    assert kept == groups_of(parse_cell(f" \n{TEXT}\n"), compiled("nasbench201"))
    left = passes.prune(small(), groups(small()) - kept)
    assert str(cell_of(groups(left), left)) == TEXT


@pytest.mark.parametrize(
    ("operation", "network"), [("nor_conv_3x3", "all_conv3x3"), ("skip_connect", "all_skip")], ids=str
)
def test_published_cells(operation: str, network: str) -> None:
    space = compiled("nasbench201")
    found = passes.prune(space, groups(space) - groups_of(Cell((operation,) * 6), space))
    assert cost(found).parameters == cost(elaborated("nasbench201", network)).parameters


def test_the_space_has_no_other_switches() -> None:
    labels = [*NASBENCH201.operations.values(), "zero"]
    known = {f"dense {place}: {label}" for place in NASBENCH201.edges.values() for label in labels}
    assert {gate.text for gate in small().gates} == known


@pytest.mark.parametrize(
    ("text", "at", "label"),
    [
        ("", "", "expected `|operation~0|`"),
        ("  ", "", "expected `|operation~0|`"),
        ("|nor conv~0|", "|nor conv~0|", "expected `|operation~0|`"),
        (TEXT.replace("~1", "~0"), "skip_connect~0|", "expected `operation~1|`"),
        (TEXT.replace("+|none", "|none"), "|none~0|", "expected `+|operation~0|`"),
        (TEXT[:-1], "avg_pool_3x3~2", "expected `operation~2|`"),
        (TEXT[:-15], "", "expected `operation~2|`"),
        (TEXT + "+|none~0|", "+|none~0|", "the cell ends before this"),
        (TEXT.replace("none", "nöne"), "+|nöne~0|", "expected `+|operation~0|`"),
    ],
)
def test_the_place_is_shown(text: str, at: str, label: str) -> None:
    with pytest.raises(NasError) as error:
        parse_cell(text)
    (found,) = error.value.diagnostics
    assert found.code == "NAS701"
    assert found.primary is not None
    assert (found.primary.span.text, found.primary.text) == (at, label)
    assert str(parse_cell((found.help or "").split("`")[1])) in (found.help or ""), "the help shows a cell"


def test_what_the_space_does_not_have() -> None:
    with pytest.raises(NasError, match="NAS702: NAS-Bench-201 has no operation `skip`") as error:
        groups_of(parse_cell(TEXT.replace("skip_connect", "skip")), small())
    assert error.value.diagnostics[0].help == (
        "it has `skip_connect`, `nor_conv_1x1`, `nor_conv_3x3`, `avg_pool_3x3`, `none`"
    )
    with pytest.raises(NasError, match="NAS702: network `all_skip` does not have the switches of NAS-Bench-201"):
        groups_of(parse_cell(TEXT), elaborated("nasbench201", "all_skip"))


def test_several_operations_on_an_edge() -> None:
    kept = groups_of(parse_cell(TEXT), small()) | {"dense:h.1.h_0.avg_pool"}
    with pytest.raises(NasError, match="the edge from 1 to 2 keeps several operations: `avg_pool_3x3`, `skip_connect`"):
        cell_of(kept, small())


@given(st.text() | st.text("|+~0123 \nanoe_x", max_size=90), st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
def test_any_text_gets_an_answer(text: str, start: int, end: int) -> None:
    for changed in (text, TEXT[:start] + text + TEXT[end:], DARTS_V2[:start] + text):
        found = answer(changed)
        assert str(found) == changed.strip() if isinstance(found, Cell) else render(found.diagnostics[0])


def answer(text: str) -> Cell | NasError:
    """The result or the diagnostic."""
    try:
        return parse_cell(text)
    except NasError as error:
        return error
