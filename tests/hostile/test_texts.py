"""Hostile texts in every field of the files of a run, in graphs, in file names and in architecture strings."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.language.json import from_json, to_json
from tests.cli.conftest import Run, run
from tests.hostile.small_runs import SPACE
from tests.hostile.structure import ATTACKS, HARMLESS, of_source, structure
from tests.hostile.test_fields import Place, here, places, replaced

__all__ = ["here", "run"]

DOCUMENTS = {
    "search": ("run.json", "decision.json", "outline.json", "result.json", "architecture.json"),
    "train": ("run.json", "result.json"),
    "compress": ("run.json", "result.json", "layers.json"),
}
CASES = [(kind, name) for kind, names in DOCUMENTS.items() for name in names]
WRITING = {
    "report": ("report", "run", "-o", "out.html"),
    "picture": ("draw", "run", "-o", "out.svg"),
    "dot": ("draw", "run", "-o", "out.dot"),
    "mermaid": ("draw", "run", "-o", "out.mmd"),
    "source": ("export", "run", "-o", "out.py"),
    "space": ("derive", "run", "-o", "."),
}
FAST = 2  # fields of a document in the fast test, with one attack each


def text_places(content: Any) -> Iterator[Place]:
    """The fields of a document that are texts."""
    for place in places(content):
        value = content
        for key in place:
            value = value[key]
        if isinstance(value, str) and place != ("checksum",):
            yield place


def written(run: Run, runs: Path, kind: str, name: str, content: Any) -> dict[str, object]:
    """The structure of everything that verbs write about a run with this document; None for what they refuse."""
    here, found = Path.cwd(), {}
    for what, words in WRITING.items():
        shutil.copytree(runs / kind, here / "run")
        (here / "run" / name).write_text(json.dumps(content))
        result = run(*words)
        assert result.code in (0, 1), result.err
        outputs = [path for path in here.iterdir() if path.suffix in (".html", ".svg", ".dot", ".mmd", ".py", ".nas")]
        found[what] = structure(outputs[0]) if result.code == 0 else None
        for path in here.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def check_texts(run: Run, runs: Path, kind: str, name: str, changes: list[tuple[Place, str]]) -> None:
    content = json.loads((runs / kind / name).read_text())
    if isinstance(content, dict):
        content.pop("checksum", None)
    harmless: dict[Place, dict[str, object]] = {}
    for place, attack in changes:
        if place not in harmless:
            harmless[place] = written(run, runs, kind, name, replaced(content, place, HARMLESS))
        hostile = written(run, runs, kind, name, replaced(content, place, attack))
        for what, found in hostile.items():
            # A text that is refused does no harm either.
            assert found is None or found == harmless[place][what], (what, place, attack)


def all_changes(runs: Path, kind: str, name: str) -> list[tuple[Place, str]]:
    content = json.loads((runs / kind / name).read_text())
    return [(place, attack) for place in text_places(content) for attack in ATTACKS]


@pytest.mark.parametrize(
    ("kind", "refused"), [("search", set()), ("train", {"space"}), ("compress", {"space"})], ids=DOCUMENTS
)
def test_harmless_runs_are_written(kind: str, refused: set[str], run: Run, here: Path, small_runs: Path) -> None:
    """Otherwise there would be nothing to compare."""
    manifest = json.loads((small_runs / kind / "run.json").read_text())
    manifest.pop("checksum")
    found = written(run, small_runs, kind, "run.json", replaced(manifest, ("versions", "torch"), ATTACKS[0]))
    assert {what for what, one in found.items() if one is None} == refused


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_texts_of_documents(run: Run, here: Path, small_runs: Path, kind: str, name: str) -> None:
    changes = all_changes(small_runs, kind, name)
    some = random.Random(f"{kind} {name}").sample(changes, min(FAST, len(changes)))
    check_texts(run, small_runs, kind, name, some)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_all_texts_of_documents(run: Run, here: Path, small_runs: Path, kind: str, name: str) -> None:
    check_texts(run, small_runs, kind, name, all_changes(small_runs, kind, name))


@pytest.mark.parametrize("attack", ATTACKS)
def test_texts_of_graphs(attack: str, tmp_path: Path) -> None:
    """The source of a graph whose names were chosen by a stranger."""
    (tmp_path / "space.nas").write_text(SPACE)
    document = json.loads(to_json(load_network(tmp_path / "space.nas").network.graph()))
    for place in text_places(document):
        sources = []
        for text in (attack, HARMLESS):
            try:
                sources.append(of_source(emit(from_json(json.dumps(replaced(document, place, text)), "g.json")).text))
            except NasError:
                sources.append(None)
        assert sources[0] is None or sources[0] == sources[1], place


@pytest.mark.parametrize("attack", [attack.replace("/", "|") for attack in ATTACKS if "\x00" not in attack])
def test_names_of_files(attack: str, run: Run, here: Path) -> None:
    """A space whose file has a hostile name, and an architecture string."""
    found = []
    for name in (attack, HARMLESS):
        (here / f"{name}.nas").write_text(SPACE)
        words = ("-o", "out.svg"), ("-o", "out.dot"), ("-o", "out.mmd")
        for options in words:
            assert run("draw", here / f"{name}.nas", *options, "--force").code == 0
        refused = run("derive", here / f"{name}.nas", f"--architecture={name}")
        assert refused.code == 1
        assert "error[NAS" in refused.err  # a text of comments keeps no switch: nothing reaches the output
        found.append([structure(here / option[1]) for option in words])
    assert found[0] == found[1]
