"""The command `status`: runs in every state, and folders that are not runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.cli.status import _json, _rows
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.outline import Outline
from bayesnas_graph.runs.reading.run import read_run_record
from tests.cli.conftest import Run
from tests.cli.fake_search import outline
from tests.search.spaces import SHORT, TINY

MANIFEST = {
    "version": 1,
    "space": "darts",
    "network": "search",
    "begun": "2024-05-01T10:00:00+00:00",
    "python_ops": False,
    "config": {"data": "cifar10", "seed": 3, "iterations": 4, "lambda": 0.02, "device": "auto"},
}
METRICS = """\
step,iteration,loss,accuracy,penalty,rate,seconds,alive
20,0,1.5,0.5,0.8,0.01,0.2,24
160,2,0.25,0.75,0.8,0.01,0.1,22
"""
UPDATES = """\
iteration,accuracy,parameters,flops,alive,lambda,seconds
1,0.8333,16466,349216,22,0.03,2.0
"""
SWITCHES = """\
iteration,switch,keep,why
1,cell_0:h.0.conv,0,own switch off
1,cell_0:h.0.pool,1,kept
1,cell_1:h.2.skip,0,dead end
"""
RESULT = {"why": "all iterations are done", "parameters": 15000, "flops": 300000, "accuracy": 0.9, "unmet": []}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was interrupted in its second iteration."""
    monkeypatch.chdir(tmp_path)
    path = Path("run")
    write(path)
    return path


def write(path: Path) -> None:
    (path / "checkpoints").mkdir(parents=True)
    (path / "checkpoints" / "step-000000150.pt").write_bytes(b"")
    (path / "run.json").write_text(json.dumps(MANIFEST))
    (path / "outline.json").write_bytes(outline().to_json())
    (path / "metrics.csv").write_text(METRICS)
    (path / "updates.csv").write_text(UPDATES)
    (path / "switches.csv").write_text(SWITCHES)
    (path / "lock").touch()


def steady(text: str) -> str:
    """The text without timings."""
    return re.sub(r"\d+:\d\d:\d\d ago", "0:00:00 ago", text)


def test_stopped(run: Run, folder: Path) -> None:
    result = run("status", folder)
    assert (result.code, result.err) == (0, "")
    assert steady(result.out) == (
        "run            run\n"
        "search         network search of darts on cifar10, cpu, seed 3\n"
        "started        2024-05-01 10:00:00 UTC, 0:00:00 ago\n"
        "state          stopped, with a checkpoint at step 150\n"
        "step           160 of 300, iteration 2/4\n"
        "loss           0.25\n"
        "accuracy       0.750 on training samples\n"
        "               0.833 on held-out samples, at update 1\n"
        "step time      200 ms at first, 100 ms now\n"
        "lambda         0.03\n"
        "parameters     16,466 of 45,650\n"
        "multiply-adds  349,216 of 949,216\n"
        "target         params < 20,000\n"
        "switches       22 of 24 open\n"
        "\n"
        "        conv  pool  skip  zero\n"
        "cell_0   2/3   3/3   3/3   3/3\n"
        "cell_1   3/3   3/3   2/3   3/3\n"
        "\n"
        "resume with\n"
        "  bayesnas-graph search --resume run\n"
    )


def test_running(run: Run, folder: Path) -> None:
    with FileLock(folder / "lock"):
        told = steady(run("status", folder).out)
        answer = json.loads(run("status", folder, "--json").out)
    assert "state          running, last update 0:00:00 ago\n" in told
    assert "step           160 of 300, iteration 2/4, 0:00:20 left\n" in told  # 140 steps and 3 updates
    assert "resume with" not in told
    assert (answer["state"], answer["seconds_left"], answer["resume"]) == ("running", 20.0, None)


def test_finished(run: Run, folder: Path) -> None:
    (folder / "result.json").write_text(json.dumps(RESULT))
    verdicts = [{"name": "cell_0:h.0.pool", "keep": False}, {"name": "cell_0:h.0.skip", "keep": True}]
    (folder / "decision.json").write_text(json.dumps({"verdicts": verdicts}))
    told = run("status", folder).out
    for line in (
        "state          finished: all iterations are done\n",
        "               0.900 on the test set, with the weights of the search\n",
        "parameters     15,000 of 45,650\n",
        "target         params < 20,000: met\n",
        "switches       21 of 24 open\n",
    ):
        assert line in told
    assert "resume with" not in told
    (folder / "result.json").write_text(json.dumps(RESULT | {"unmet": ["params < 20,000"]}))
    assert "target         params < 20,000: not met\n" in run("status", folder).out


def test_nothing_written_yet(run: Run, folder: Path) -> None:
    for name in ("outline.json", "metrics.csv", "updates.csv", "switches.csv", "lock"):
        (folder / name).unlink()
    (folder / "checkpoints" / "step-000000150.pt").unlink()
    result = run("status", folder)
    assert result.code == 0
    assert steady(result.out) == (
        "run            run\n"
        "search         network search of darts on cifar10, auto, seed 3\n"
        "started        2024-05-01 10:00:00 UTC, 0:00:00 ago\n"
        "state          stopped\n"
        "step           0\n"
        "\n"
        "resume with\n"
        "  bayesnas-graph search --resume run\n"
    )
    answer = json.loads(run("status", folder, "--json").out)
    assert answer["loss"] is None
    assert answer["switches"] == {}


def test_json(run: Run, folder: Path) -> None:
    answer = json.loads(run("status", folder, "--json").out)
    switches = answer.pop("switches")
    assert len(switches) == 24
    assert {name for name, is_open in switches.items() if not is_open} == {"cell_0:h.0.conv", "cell_1:h.2.skip"}
    names = answer.pop("switch_names")
    assert names.keys() == switches.keys()
    assert names["cell_0:h.0.conv"] == "cell_0 h[0]: conv"
    assert answer == {
        "version": 1,
        "run": "run",
        "state": "stopped",
        "space": "darts",
        "network": "search",
        "data": "cifar10",
        "device": "cpu",
        "seed": 3,
        "begun": "2024-05-01T10:00:00+00:00",
        "step": 160,
        "steps": 300,
        "iteration": 1,
        "iterations": 4,
        "loss": 0.25,
        "accuracy": {"train": 0.75, "held_out": 0.8333, "test": None},
        "step_seconds": {"first": 0.2, "now": 0.1},
        "seconds_left": None,
        "lambda": 0.03,
        "weights": 16466,
        "flops": 349216,
        "checkpoint": 150,
        "why": None,
        "unmet": None,
        "comparison": None,
        "resume": "bayesnas-graph search --resume run",
    }


@pytest.mark.parametrize(
    "tail", ["180,2,0.2", "180,2,0.2,0.8,0.8,0.01,0.1,2", "180,2,x,0.8,0.8,0.01,0.1,22\n", "\n", "\0\n", '"\n']
)
def test_lines_that_are_not_whole(run: Run, folder: Path, tail: str) -> None:
    """The second may be the start of a longer number."""
    with (folder / "metrics.csv").open("a") as file:
        file.write(tail)
    assert "step           160 of 300" in run("status", folder).out


def test_a_damaged_line_in_the_middle(run: Run, folder: Path) -> None:
    (folder / "metrics.csv").write_text(METRICS.replace("\n20", "\n\xff\n1,2\n20"))
    assert "step time      200 ms at first, 100 ms now" in run("status", folder).out


def test_operations_in_python_are_allowed_again(run: Run, folder: Path) -> None:
    (folder / "run.json").write_text(json.dumps(MANIFEST | {"python_ops": True}))
    assert "search --resume run --allow-python\n" in run("status", folder).out


def test_no_run(run: Run, folder: Path) -> None:
    for path, help in (("absent", "give the folder written by `search`"), (".", "it contains runs, such as `run`")):
        result = run("status", path)
        assert result.code == 1
        problem = "does not exist" if path == "absent" else "is not a run folder"
        assert f"error[NAS602]: `{path}` {problem}" in result.err
        assert help in result.err
    for text in (
        "",
        "{",
        "[]",
        "{}",
        json.dumps(MANIFEST | {"config": 3}),
        json.dumps(MANIFEST | {"seed": float("nan")}),
    ):
        (folder / "run.json").write_text(text)
        assert "error[NAS602]: cannot read `run/run.json`" in run("status", folder).err


def test_a_lock_that_cannot_be_asked(run: Run, folder: Path) -> None:
    (folder / "lock").unlink()
    (folder / "lock").mkdir()
    assert "state          not finished; it may be running on another machine\n" in run("status", folder).out


NAMES = ("run.json", "outline.json", "metrics.csv", "updates.csv", "switches.csv", "result.json", "decision.json")


@given(st.sampled_from(NAMES), st.integers(0, 400), st.binary(max_size=8), st.booleans())
def test_damaged_runs_have_a_status(
    tmp_path_factory: pytest.TempPathFactory, name: str, offset: int, noise: bytes, cut: bool
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "run"
    write(path)
    (path / "result.json").write_text(json.dumps(RESULT))
    (path / "decision.json").write_text(json.dumps({"verdicts": [{"name": "cell_0:h.0.pool", "keep": False}]}))
    content = (path / name).read_bytes()
    (path / name).write_bytes(content[:offset] + noise + (b"" if cut else content[offset + len(noise) :]))
    try:
        found = read_run_record(RunPaths(path))
    except NasError:
        assert name == "run.json"
        return
    assert found.begun is None or _rows(found, found.begun)
    json.dumps(_json(found), allow_nan=False)


@pytest.mark.parametrize("change", [b'"steps":0', b'"steps":-5', b'"steps":"x"'])
def test_an_outline_that_makes_no_sense(change: bytes) -> None:
    plain = {key: value for key, value in json.loads(outline().to_json()).items() if key != "checksum"}
    text = json.dumps(plain, separators=(",", ":")).encode().replace(b'"steps":50', change)
    with pytest.raises(ValueError, match="steps"):
        Outline.from_json(text)
    assert Outline.from_json(outline().to_json()) == outline()


def test_no_torch(folder: Path) -> None:
    script = (
        "import sys\n"
        "from bayesnas_graph.cli.main import app\n"
        f"try: app(['status', {str(folder)!r}])\n"
        "except SystemExit as e: assert not e.code\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_a_real_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.nas").write_text(TINY)
    Path("short.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in SHORT.items()))
    assert run("search", "tiny.nas", "--config", "short.toml", "-o", "run", "--allow-python").code == 0
    told = run("status", "run").out
    result = json.loads(Path("run/result.json").read_text())
    assert f"state          finished: {result['why']}\n" in told
    assert f"switches       {result['kept']} of {result['switches']} open\n" in told
    assert f"parameters     {result['parameters']:,} of " in told
    for path in (Path("run/result.json"), Path("run/decision.json")):
        path.unlink()
    assert (
        "state          stopped, with a checkpoint at step 36\nstep           36 of 36, finish\n"
        in run("status", "run").out
    )
