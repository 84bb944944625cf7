"""Texts in files of strangers reach generated files only as text."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bayesnas_graph import api
from bayesnas_graph.codegen.emit.text import docstring
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.json import fingerprint

SPACE = """
network net : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : choose { conv(4), conv(4, 1) } > bn > relu > global_avg_pool > linear(10)
}
"""
FIELDS = (("space",), ("called",), ("begun",), ("data_dir",), ("versions", "torch"), ("versions", "bayesnas-graph"))
ATTACKS = (
    '2.0"""\nimport os\nos.abort()\n"""',
    "\\",
    '"',
    '""',
    "\n# coding: rot13\n",
    "\r\nimport os",
    "x\x00y",
    "\u2028import os",
    "*/ network evil",
)
texts = st.one_of(st.sampled_from(ATTACKS), st.text(st.characters(codec="utf-8"), max_size=30))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strings")
    (folder / "space.nas").write_text(SPACE)
    values: dict[str, Any] = {"data": "shapes", "steps": 2, "warmup": 0, "iterations": 1, "batch": 8}
    return api.search(folder / "space.nas", output=folder / "run", **values).path


def shape_of(source: str) -> str:
    """The syntax tree of a source, without the text of its docstring."""
    tree = ast.parse(source)
    assert ast.get_docstring(tree) is not None
    tree.body = tree.body[1:]
    return ast.dump(tree)


@pytest.mark.parametrize("field", FIELDS, ids=".".join)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
def test_a_manifest_is_only_text(run: Path, field: tuple[str, ...], text: str) -> None:
    manifest = run / "run.json"
    before = manifest.read_bytes()
    expected = api.derive(run)
    about = json.loads(before)
    del about["checksum"]
    inner = about
    for key in field[:-1]:
        inner = inner[key]
    inner[field[-1]] = text
    try:
        manifest.write_text(json.dumps(about))
        found = api.derive(run)
        source = found.model().program.text
        assert shape_of(source) == shape_of(expected.model().program.text)
        report = Report()
        space = Checker(report).text(Source("derived.nas", found.written.text))
        assert not report.diagnostics
        assert fingerprint(space.networks[0].graph()) == fingerprint(expected.written.graph)
    finally:
        manifest.write_bytes(before)


@given(st.text())
@example('"""')
@example("\\")
@example("\n# -*- coding: rot13 -*-")
def test_no_text_ends_a_docstring(text: str) -> None:
    source = f"{docstring(text)}\nx = 1\n"
    compiled = compile(source.encode(), "text", "exec")
    scope: dict[str, object] = {}
    exec(compiled, scope)
    assert scope["x"] == 1
    tree = ast.parse(source)
    assert len(tree.body) == 2
    assert ast.get_docstring(tree, clean=False) is not None
