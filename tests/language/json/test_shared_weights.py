"""Shared weights in documents and in differences."""

from __future__ import annotations

import json

import pytest

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.json import from_json, to_json
from bayesnas_graph.language.json.difference import compare
from bayesnas_graph.language.json.summary import summary
from tests.helpers import network

OWN = "network n : vector(4) -> classes(4) { in x node h = x : linear(4) h -> out : linear(4) }"
SHARED = "network n : vector(4) -> classes(4) { in x share f = linear(4) node h = x : f h -> out : f }"


def test_a_difference() -> None:
    own, shared = network(OWN).graph(), network(SHARED).graph()
    difference = compare(own, shared)
    assert not difference.same
    assert [change.new for change in difference.reshared] == [("f",), ("h",)]
    assert "weights h: shared with f" in summary(difference, own, shared)
    assert "weights h, linear: no longer shared" in summary(compare(shared, own), shared, own)


def test_graphs_without_shared_weights_have_no_such_field() -> None:
    assert '"weights"' not in to_json(network(OWN).graph())
    assert to_json(network(SHARED).graph()).count('"weights"') == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"op": {"name": "relu", "args": {}}}, "`relu` has no weights to share"),
        ({"op": {"name": "linear", "args": {"width": 4, "bias": False}}}, "share weights, but need different ones"),
    ],
)
def test_documents_that_are_wrong(change: dict[str, object], said: str) -> None:
    document = json.loads(to_json(network(SHARED).graph()))
    document["nodes"][2] |= change
    with pytest.raises(NasError) as caught:
        from_json(json.dumps(document), "graph.json")
    assert said in str(caught.value)
