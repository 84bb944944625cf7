"""Documents of older versions can still be read: those in `old` have the fields that these versions wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops.norm import GroupNorm
from bayesnas_graph.language.json import fingerprint, from_json, read_graph, to_json
from tests.helpers import body, graph
from tests.language.json.graphs import facts

OLD = Path(__file__).parent / "old"
SPACE = graph((OLD / "space.nas").read_text())
SWITCHES = passes.run(SPACE, passes.SWITCHES, passes.DEFAULT)
FOUND = passes.prune(SWITCHES, ("c:h.0.bn", "c:h.1.x.conv", "a.1.x_2.tanh"))
FINGERPRINTS = {
    "graph.json": "cf2cd246cafe8e8b177b2776da29ee965210e697a7068946ba27c8b4f42731ac",
    "architecture.json": "4657857b885ebeb9179b1cb1e72ec930ceee7c7ee96875d6a9a4b97954f1a2e3",
}


@pytest.mark.parametrize(("name", "made"), [("graph.json", SWITCHES), ("architecture.json", FOUND)])
def test_version_2(name: str, made: Graph) -> None:
    assert json.loads((OLD / name).read_text())["version"] == 2
    old = read_graph(OLD / name, name)
    assert old == made
    assert facts(old) == facts(made)
    assert emit(old) == emit(made)
    assert fingerprint(old) == fingerprint(made) == FINGERPRINTS[name]


def test_version_1_had_no_scopes() -> None:
    old = read_graph(OLD / "version_1.json", "version_1.json")
    assert old == SPACE
    assert old.scopes == ()
    assert all(not node.replaces and not node.scope for node in old)
    assert [(g.choice, g.label, g.kind) for g in old.gates] == [(g.choice, g.label, g.kind) for g in SPACE.gates]


@pytest.mark.parametrize("name", ["version_1.json", "graph.json", "architecture.json"])
def test_they_are_written_in_the_new_version(name: str) -> None:
    old = read_graph(OLD / name, name)
    text = to_json(old)
    assert json.loads(text)["version"] == 4
    again = from_json(text, "new.json")
    assert again == old
    assert facts(again) == facts(old)


def test_new_fields_are_no_part_of_old_versions() -> None:
    data = json.loads(to_json(SPACE)) | {"version": 2}
    with pytest.raises(NasError, match="is not part of the format"):
        from_json(json.dumps(data), "mixed.json")


@pytest.mark.parametrize("affine", [True, False])
def test_layer_norms_of_old_documents_are_over_a_whole_sample(affine: bool) -> None:
    """Since version 4 they are over channels."""
    text = f"x -> out : layer_norm(affine = {str(affine).lower()})"
    new = graph(body(text))
    data = json.loads(to_json(new))
    assert from_json(json.dumps(data), "graph.json") == new
    (norm,) = (node.op for node in from_json(json.dumps(data | {"version": 3}), "graph.json") if not node.op.is_input)
    assert norm == GroupNorm(1, affine)
