"""`search --compare-random`: what it prints and writes, and what `status` and `report` show of it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from bayesnas_graph.cli.main import main
from bayesnas_graph.diagnostics.checksums import with_checksum
from tests.cli.conftest import Run
from tests.cli.test_search import DATA, QUICK
from tests.search.test_finalists import ONE

SMALL = ONE.replace("    x -> out : conv(width", "    require params < 300\n    x -> out : conv(width")
BEGIN = ("search", "small.nas", *DATA, "-s", "finalist_steps=3", "--display", "plain")
SUMMARY = re.compile(
    r"compared       found [\d.]+ %; 2 random architectures that meet the same requirements: "
    r"[\d.]+ % on average, [\d.]+ to [\d.]+ %; rank [123] of 3"
)


def prepare(folder: Path) -> None:
    (folder / "small.nas").write_text(SMALL)
    (folder / "small.toml").write_text("".join(f"{key} = {value}\n" for key, value in QUICK.items()))


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with a comparison."""
    where = tmp_path_factory.mktemp("compared")
    prepare(where)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        patch.setattr(sys, "argv", ["bayesnas-graph", *BEGIN, "--compare-random", "2", "-o", "run"])
        with pytest.raises(SystemExit) as exit:
            main()
    assert not exit.value.code
    return where / "run"


@pytest.fixture
def folder(compared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepare(tmp_path)
    shutil.copytree(compared, tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_recorded_and_meets_what_is_required(folder: Path) -> None:
    found = json.loads((folder / "run" / "comparison.json").read_text())
    assert (found["wanted"], found["among"], found["steps"]) == (2, "requirements", 3)
    assert len({tuple(network["off"]) for network in found["networks"]}) == 3
    assert all(network["parameters"] < 300 for network in found["networks"])
    assert found == with_checksum({key: value for key, value in found.items() if key != "checksum"})
    verdicts = json.loads((folder / "run" / "decision.json").read_text())["verdicts"]
    assert found["networks"][0]["off"] == sorted(verdict["name"] for verdict in verdicts if not verdict["keep"])


def test_it_can_be_asked_for_later(run: Run, folder: Path) -> None:
    """The result is that of a run that was started with it, and so is the rest of the folder."""
    begun = run(*BEGIN, "-o", "later")
    assert "compared" not in begun.out
    assert not (folder / "later" / "comparison.json").exists()
    refused = run("search", "--resume", "later", "--compare-random", 2, "--seed", 3, "--allow-python")
    assert refused.code == 1
    assert "`--resume` takes no settings, but got `--seed 3`" in refused.err
    wrong = run("search", "--resume", "later", "--compare-random", -2)
    assert "error[NAS601]: `compare_random` should be greater than or equal to 0" in wrong.err
    later = run("search", "--resume", "later", "--compare-random", 2, "--allow-python")
    assert later.code == 0, later.err
    assert SUMMARY.search(later.out)
    for name in ("comparison.json", "decision.json", "result.json", "outline.json"):
        if name != "outline.json":
            assert (folder / "later" / name).read_bytes() == (folder / "run" / name).read_bytes()
    configs = [json.loads((folder / name / "run.json").read_text())["config"] for name in ("later", "run")]
    assert configs[0] == configs[1]
    again = run("search", "--resume", "later", "--allow-python")
    assert SUMMARY.search(again.out)
    assert "compared 1/3" not in again.out, "nothing is trained again"


def test_status_and_report(run: Run, folder: Path) -> None:
    shown = run("status", "run")
    assert SUMMARY.search(shown.out)
    assert "comparison 3/3" in shown.out
    found = json.loads(run("status", "run", "--json").out)["comparison"]
    assert found["done"] == 3
    assert len(found["random"]) == 2
    assert run("report", "run", "-o", "page.html").code == 0
    page = (folder / "page.html").read_text()
    assert "Against random architectures" in page
    assert "for 2 random architectures that meet the same requirements." in page
    assert "Accuracy by parameters" in page


def test_a_run_that_was_stopped_meanwhile(run: Run, folder: Path) -> None:
    """It is not finished, although its architecture is known and can be derived."""
    content = json.loads((folder / "run" / "comparison.json").read_text())
    del content["checksum"]
    content["networks"][2] |= {"loss": None, "accuracy": None}
    (folder / "run" / "comparison.json").write_text(json.dumps(content))
    for name in ("result.json", "checksums.json"):
        (folder / "run" / name).unlink()
    shown = run("status", "run").out
    assert "state          stopped" in shown
    assert "comparison 2/3" in shown
    assert "resume with" in shown
    assert run("derive", "run", "-o", "found").code == 0
    assert run("report", "run", "-o", "page.html").code == 0
    assert "1 architecture is still to be trained." in (folder / "page.html").read_text()
    resumed = run("search", "--resume", "run", "--allow-python")
    assert "compared 3/3" in resumed.out
    assert "compared 2/3" not in resumed.out


def test_a_hostile_file(run: Run, folder: Path) -> None:
    """Text from it reaches no page, and damage is a warning."""
    path = folder / "run" / "comparison.json"
    content = json.loads(path.read_text())
    content["among"] = "<script>alert(1)</script>"
    path.write_text(json.dumps({key: value for key, value in content.items() if key != "checksum"}))
    for words in (("status", "run"), ("report", "run", "-o", "page.html")):
        result = run(*words)
        assert result.code == 0
        assert "warning[NAS602]: cannot read `run/comparison.json`: it is damaged" in result.err
    assert "alert(1)" not in (folder / "page.html").read_text()
    assert "Against random" not in (folder / "page.html").read_text()
