"""Graphs from strangers name Python classes, which are not imported without consent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Edge, Graph, Node, ShapeError
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.json import from_json, to_json
from tests.cli.conftest import Run, run

__all__ = ["run"]


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A graph with a class of a module that leaves a file when it is imported."""
    (tmp_path / "hostile_module.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'imported')!r}).touch()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    hostile = PythonOp("relu", "hostile_module:Class")
    graph = Graph("net", [Node("x", Input(), (4,)), Node("y", hostile, (4,))], [Edge("x", "y", 0)], ["y"])
    return to_json(graph)


@pytest.mark.parametrize("stage", [lambda graph: passes.run(graph, (*passes.SWITCHES, *passes.FASTER)), emit])
def test_nothing_imports_it(stage: object, document: str, tmp_path: Path) -> None:
    assert callable(stage)
    graph = from_json(document, "graph.json")
    with pytest.raises(NasError, match="hostile_module:Class") as caught:
        stage(graph)
    assert caught.value.diagnostics[0].code == "NAS105"
    assert not (tmp_path / "imported").exists()


def test_consent(document: str, tmp_path: Path) -> None:
    graph = from_json(document, "graph.json", allow_python=True)
    with pytest.raises(ShapeError, match="has no attribute 'Class'"):
        graph["y"].op.shape((4,))
    assert (tmp_path / "imported").exists()


def test_diff_only_compares(document: str, tmp_path: Path, run: Run) -> None:
    other = json.loads(document)
    other["nodes"][1]["op"]["args"]["target"] = "hostile_module:Other"
    for name, text in (("one.json", document), ("other.json", json.dumps(other))):
        (tmp_path / name).write_text(text)
    result = run("diff", tmp_path / "one.json", tmp_path / "other.json")
    assert result.code == 1
    assert "hostile_module" in result.out
    assert not (tmp_path / "imported").exists()
