"""Documents of a run with fields of another type: a diagnostic, whichever verb reads them."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, run
from tests.hostile.small_runs import is_read, readings

__all__ = ["run"]

OTHERS: tuple[Any, ...] = (None, True, -1, 0.5, 1e300, 10**400, "text", [], ["a", {}], {}, {"a": [None]})
LONGEST = 1  # elements of a list that are replaced
EXAMPLES = 4  # of the many changes of a document, in the fast test

DOCUMENTS = {
    "search": (
        "run.json",
        "decision.json",
        "outline.json",
        "result.json",
        "checksums.json",
        "architecture.json",
        "comparison.json",
    ),
    "train": ("run.json", "result.json", "checksums.json"),
    "compress": ("run.json", "result.json", "layers.json", "checksums.json"),
    "train-cut": ("run.json",),
}
LENGTHS = {"epochs", "steps", "warmup", "iterations", "finish", "loops", "loop_epochs", "fine_epochs", "finalists"}
LENGTHS |= {"compare_random", "finalist_steps"}
CASES = [(kind, name) for kind, names in DOCUMENTS.items() for name in names]

Place = tuple[str | int, ...]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(content: Any, at: Place = ()) -> Iterator[Place]:
    """All fields of a document; of long lists, the first elements."""
    inside: Any = ()
    if isinstance(content, dict):
        inside = content.items()
    elif isinstance(content, list):
        inside = enumerate(content[:LONGEST])
    for key, value in inside:
        yield (*at, key)
        yield from places(value, (*at, key))


def replaced(content: Any, place: Place, value: Any) -> Any:
    changed = deepcopy(content)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


def without(content: Any, place: Place) -> Any:
    changed = deepcopy(content)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return changed


def changes(content: Any) -> Iterator[tuple[str, Any]]:
    """All changes of a document, each with a description."""
    for place in places(content):
        name = ".".join(map(str, place))
        yield f"without {name}", without(content, place)
        yield from ((f"{name} = {str(value)[:20]!r}", replaced(content, place, value)) for value in OTHERS)
    yield from ((f"all = {str(value)[:20]!r}", value) for value in OTHERS)


def is_as_long(manifest: Any, original: dict[str, Any]) -> bool:
    """Whether the settings of a run ask for as many steps as before. Without them, it would take the usual hours."""
    config = manifest.get("config") if isinstance(manifest, dict) else None
    return not isinstance(config, dict) or all(config.get(key) == original["config"].get(key) for key in LENGTHS)


def check_verbs(run: Run, runs: Path, kind: str, name: str, some: list[tuple[str, Any]]) -> None:
    here, original = Path.cwd(), json.loads((runs / kind / "run.json").read_text())
    for what, content in some:
        for verb, reading in readings(kind).items():
            if not is_read(name, verb, kind):
                continue
            if verb == "resume" and name == "run.json" and not is_as_long(content, original):
                continue
            shutil.copytree(runs / kind, here / "run")
            (here / "run" / name).write_text(json.dumps(content))
            result = reading.run(run)
            about = f"{' '.join(reading.words)}, {name}: {what}\n{result.err}{result.out[-500:]}"
            assert result.code in (0, 1), about
            assert result.code == 0 or "error[NAS" in result.err, about
            if "--json" in reading.words and result.code == 0:
                json.loads(result.out, parse_constant=pytest.fail)
            for path in here.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def all_changes(runs: Path, kind: str, name: str) -> list[tuple[str, Any]]:
    content = json.loads((runs / kind / name).read_text())
    if isinstance(content, dict):
        content.pop("checksum", None)
    return list(changes(content))


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_fields_of_another_type(run: Run, here: Path, small_runs: Path, kind: str, name: str) -> None:
    some = random.Random(f"{kind} {name}").sample(all_changes(small_runs, kind, name), EXAMPLES)
    check_verbs(run, small_runs, kind, name, some)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_all_fields_of_another_type(run: Run, here: Path, small_runs: Path, kind: str, name: str) -> None:
    check_verbs(run, small_runs, kind, name, all_changes(small_runs, kind, name))
