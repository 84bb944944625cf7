"""Damaged and edited sweeps and derivations: a diagnostic, or the same result."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.sweep.folder import SweepFolder
from tests.cli.conftest import Result, Run, run
from tests.hostile.test_fields import changes
from tests.hostile.test_integrity import flipped
from tests.runs.sweep.sweeps import asked

__all__ = ["run"]

EXAMPLES = 25


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_runs: Path) -> Path:
    """A finished sweep, whose runs are copies of one search."""
    monkeypatch.chdir(tmp_path)
    folder = SweepFolder(tmp_path / "sweep")
    request = asked("lambda=1,2", data="shapes", steps=6)
    for point in request.points():
        shutil.copytree(small_runs / "search", folder.run(point).path)
    folder.own.write_json(folder.request_file, request.model_dump())
    return folder.path


def check(result: Result, about: str) -> None:
    assert result.code in (0, 1), f"{about}\n{result.err}"
    assert result.code == 0 or "error[NAS" in result.err, f"{about}\n{result.err}"


def check_sweep(run: Run, sweep: Path, some: list[tuple[str, Any]]) -> None:
    for what, content in some:
        (sweep / "sweep.json").write_text(json.dumps(content))
        check(run("report", "sweep", "-o", "page.html", "--force"), f"report, {what}")
        with RunFolder(sweep).locked():  # everything is read before the lock is taken
            check(run("search", "--resume", "sweep"), f"resume, {what}")


def all_changes(path: Path) -> list[tuple[str, Any]]:
    content = json.loads(path.read_text())
    del content["checksum"]
    return list(changes(content))


def test_fields_of_a_sweep(run: Run, sweep: Path) -> None:
    check_sweep(run, sweep, random.Random(1).sample(all_changes(sweep / "sweep.json"), EXAMPLES))


@pytest.mark.long
def test_all_fields_of_a_sweep(run: Run, sweep: Path) -> None:
    check_sweep(run, sweep, all_changes(sweep / "sweep.json"))


def test_flipped_bits_of_a_sweep(run: Run, sweep: Path) -> None:
    path = sweep / "sweep.json"
    before = path.read_bytes()
    assert run("report", "sweep", "-o", "page.html").code == 0
    expected = Path("page.html").read_bytes()
    for seed in range(EXAMPLES):
        path.write_bytes(flipped(before, random.Random(seed))[0])
        result = run("report", "sweep", "-o", "page.html", "--force")
        check(result, f"flip {seed}")
        if result.code == 0:
            assert Path("page.html").read_bytes() == expected
    path.write_bytes(before.replace(b'"lambda=1,2"', b'"lambda=1,3"'))
    result = run("report", "sweep", "-o", "page.html", "--force")
    assert result.err == (
        "error[NAS602]: cannot read `sweep/sweep.json`: it has changed since it was written\n"
        " = help: if you edited it, remove its `checksum` field to use it as it is\n\n"
    )


def check_derivation(run: Run, folder: Path, name: str, examples: int | None) -> None:
    (folder / "run").rename(folder / "searched")
    assert run("derive", "searched", "-o", "found").code == 0
    some = all_changes(folder / "found" / name)
    for what, content in some if examples is None else random.Random(name).sample(some, examples):
        (folder / "found" / name).write_text(json.dumps(content))
        for words in (("draw", "found", "-o", "net.svg"), ("draw", "found", "--space", "-o", "net.svg")):
            check(run(*words), f"{' '.join(words)}, {name}: {what}")


@pytest.fixture
def searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_runs: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small_runs / "search", tmp_path / "run")
    return tmp_path


@pytest.mark.parametrize("name", ["derived.json", "decision.json"])
def test_fields_of_a_derivation(run: Run, searched: Path, name: str) -> None:
    check_derivation(run, searched, name, EXAMPLES)


@pytest.mark.long
@pytest.mark.parametrize("name", ["derived.json", "decision.json"])
def test_all_fields_of_a_derivation(run: Run, searched: Path, name: str) -> None:
    check_derivation(run, searched, name, None)


def test_an_edited_decision(run: Run, searched: Path) -> None:
    """It is refused until the checksum is removed, and then followed."""
    path = searched / "run" / "decision.json"
    content = json.loads(path.read_text())
    kept = next(verdict for verdict in content["verdicts"] if verdict["keep"] and "conv" in verdict["name"])
    kept.update(keep=False, why="own switch off")
    path.write_text(json.dumps(content))
    refused = run("derive", "run", "-o", "found")
    assert (refused.code, refused.err) == (
        1,
        "error[NAS602]: cannot read `run/decision.json`: it has changed since it was written\n"
        " = help: write it again with `bayesnas-graph search --resume run`; if you edited it, remove its `checksum` "
        "field to use it as it is\n\n",
    )
    assert "it has changed since it was written" in run("draw", "run", "-o", "net.svg").err
    assert "cannot read `run/decision.json`: it has changed since" in run("report", "run", "-o", "page.html").err
    del content["checksum"]
    path.write_text(json.dumps(content))
    assert run("derive", "run", "-o", "found").code == 0
    found = json.loads((searched / "found" / "decision.json").read_text())
    assert not next(verdict for verdict in found["verdicts"] if verdict["name"] == kept["name"])["keep"]
