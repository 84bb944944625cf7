"""The notebook in docs/ runs, and its stored outputs are current.

For cells tagged `varies`, only the types of outputs are compared, because the values depend on the machine.
`--update-golden` executes the notebook in place; read the diff.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from benchmarks.notebook import METADATA, NOTEBOOK
from tests.conftest import ROOT

LARGEST = 400_000  # bytes
Cell = dict[str, Any]


def cells(path: Path) -> list[Cell]:
    found: list[Cell] = json.loads(path.read_text())["cells"]
    return found


def code(path: Path) -> list[Cell]:
    return [cell for cell in cells(path) if cell["cell_type"] == "code"]


def kinds(cell: Cell) -> list[list[str]]:
    """The output types of a cell: MIME types, or the name of a stream."""
    return [sorted(output["data"]) if "data" in output else [output["name"]] for output in cell["outputs"]]


def told(cell: Cell) -> list[str]:
    """The text output of a cell."""
    parts = [output["data"]["text/plain"] if "data" in output else output["text"] for output in cell["outputs"]]
    return ["".join(part) for part in parts]


def test_the_notebook_shows_what_it_does(tmp_path: Path, update_golden: bool) -> None:
    anew = NOTEBOOK if update_golden else tmp_path / "tour.ipynb"
    command = [sys.executable, "-m", "benchmarks.notebook", "-o", str(anew)]
    subprocess.run(command, cwd=ROOT, check=True)
    stored = code(NOTEBOOK)
    assert any(cell["metadata"] for cell in stored)
    for before, now in zip(stored, code(anew), strict=True):
        assert kinds(before) == kinds(now), before["id"]
        if "varies" not in before["metadata"].get("tags", ()):
            assert told(before) == told(now), before["id"]


def test_the_notebook_is_clean() -> None:
    text = NOTEBOOK.read_text()
    found = json.loads(text)
    nbformat.validate(found)
    assert len(text.encode()) < LARGEST
    assert found["metadata"] == METADATA
    assert [cell["execution_count"] for cell in code(NOTEBOOK)] == list(range(1, len(code(NOTEBOOK)) + 1))
    for cell in code(NOTEBOOK):
        assert cell["metadata"] in ({}, {"tags": ["varies"]})
        assert all(output.get("name") != "stderr" for output in cell["outputs"])
        assert not any(re.search(r" at 0x[0-9a-f]+>", part) for part in told(cell)), "an address tells nothing"


@pytest.mark.parametrize("kind", ["image/svg+xml", "text/html"])
def test_the_notebook_has_pictures(kind: str) -> None:
    outputs = [output["data"] for cell in code(NOTEBOOK) for output in cell["outputs"] if "data" in output]
    shown = ["".join(data[kind]) for data in outputs if kind in data]
    assert len(shown) > 1
    assert all("<svg" in text or "data:image/svg+xml;base64," in text for text in shown)


def test_links_lead_somewhere() -> None:
    texts = ["".join(cell["source"]) for cell in cells(NOTEBOOK) if cell["cell_type"] == "markdown"]
    targets = [target for text in texts for target in re.findall(r"\]\(([^)#\s]+)", text)]
    assert targets
    for target in targets:
        assert (NOTEBOOK.parent / target).exists(), target
