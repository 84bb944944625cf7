"""The command `status` on a sweep: its runs in every state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from bayesnas_graph.runs.sweep.folder import SweepFolder
from tests.cli.conftest import Run
from tests.cli.test_status import METRICS, RESULT, UPDATES, write

REQUEST: dict[str, Any] = {
    "version": 1,
    "space": "tiny.nas",
    "file": "tiny.nas",
    "python_ops": False,
    "data_dir": "data",
    "settings": {"data": "digits", "iterations": 4},
    "sweep": ["lambda=1,2,3"],
    "seeds": 2,
    "begun": "",
    "versions": {},
}


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A sweep with a run in each state; the folders of its runs by state."""
    monkeypatch.chdir(tmp_path)
    folder = SweepFolder(Path("sweep"))
    folder.path.mkdir()
    folder.request_file.write_text(json.dumps(REQUEST))
    points = folder.request().points()
    states = dict(zip(("done", "running", "stopped", "failed", "damaged", "waiting"), points, strict=True))
    for state, point in states.items():
        run = folder.run(point).path
        if state == "failed":
            row = f'{point.values[0][1]},{point.seed},failed,,,,,,error[NAS605]: the loss exploded,"{point.name}",0\n'
            header = "lambda,seed,state,parameters,flops,accuracy,kept,switches,error,folder,resubmitted\n"
            folder.table.write_text(header + row)
        elif state != "waiting":
            write(run)
            (run / "metrics.csv").write_text(METRICS)
            (run / "updates.csv").write_text(UPDATES)
    done = folder.run(states["done"])
    done.result.write_text(json.dumps({**RESULT, "kept": 7, "switches": 24}))
    done.decision.write_text(json.dumps({"verdicts": []}))
    (folder.run(states["damaged"]).path / "run.json").write_text("{")
    return {state: folder.run(point).path for state, point in states.items()}


def test_a_row_for_each_run(sweep: dict[str, Path], run: Run) -> None:
    with FileLock(Path("sweep") / "lock"), FileLock(sweep["running"] / "lock"):
        result = run("status", "sweep")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "sweep          sweep\n"
        "search         tiny.nas on digits, 6 runs\n"
        "state          running: 1 done, 1 running, 1 stopped, 1 failed, 1 damaged, 1 waiting\n"
        "\n"
        "run              state    update  held-out    test  parameters\n"
        "lambda=1 seed=0  done        1/4    0.8333  0.9000      15,000\n"
        "lambda=1 seed=1  running     1/4    0.8333              16,466\n"
        "lambda=2 seed=0  stopped     1/4    0.8333              16,466\n"
        "lambda=2 seed=1  failed\n"
        "lambda=3 seed=0  damaged\n"
        "lambda=3 seed=1  waiting\n"
        "\n"
        "failed: lambda=2 seed=1: error[NAS605]: the loss exploded\n"
        f"damaged: lambda=3 seed=0: cannot read `{sweep['damaged']}/run.json`\n"
    )


def test_a_sweep_that_is_not_running_can_be_resumed(sweep: dict[str, Path], run: Run) -> None:
    shown = run("status", "sweep").out
    assert "state          not running: 2 stopped, 1 done" in shown
    assert shown.endswith("\nresume with\n  bayesnas-graph search --resume sweep\n")


def test_json(sweep: dict[str, Path], run: Run) -> None:
    with FileLock(sweep["running"] / "lock"):
        content = json.loads(run("status", "sweep", "--json").out)
    assert (content["kind"], content["state"], content["space"]) == ("sweep", "not running", "tiny.nas")
    assert [one["state"] for one in content["runs"]] == [*sweep]
    first = content["runs"][0]
    assert (first["settings"], first["seed"], first["weights"]) == ({"lambda": "1"}, 0, 15000)
    assert first["accuracy"] == {"held_out": 0.8333, "test": 0.9}
    assert "damaged" not in first
    assert content["runs"][4]["problem"].startswith("cannot read")


def test_a_changed_file_is_named(sweep: dict[str, Path], run: Run) -> None:
    (sweep["stopped"] / "updates.csv").write_text("iteration,accuracy\n1\n")
    assert f"damaged: lambda=2 seed=0: cannot read `{sweep['stopped']}/updates.csv`" in run("status", "sweep").out


def test_a_damaged_request(sweep: dict[str, Path], run: Run) -> None:
    Path("sweep/sweep.json").write_text("{}")
    result = run("status", "sweep")
    assert (result.code, "error[NAS602]: cannot read `sweep/sweep.json`" in result.err) == (1, True)
