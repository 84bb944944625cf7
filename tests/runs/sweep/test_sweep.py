"""Sweeps with simulated runs: folders, commands, tables and scheduling."""

from __future__ import annotations

import csv
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.settings import assigned, configured
from bayesnas_graph.runs.sweep.comparison import overlap, summary, to_csv, to_markdown
from bayesnas_graph.runs.sweep.folder import SweepFolder, arguments, first_error, last_line, run_of, words
from bayesnas_graph.runs.sweep.pool import Job
from bayesnas_graph.runs.sweep.schedule import Sweep, SweepWatcher
from tests.runs.sweep.sweeps import asked, finish, grid


def test_a_run_is_done_when_its_result_can_be_read(tmp_path: Path) -> None:
    folder, (point,) = SweepFolder(tmp_path), grid()
    assert run_of(folder, point).state == "waiting"
    finish(folder, point, kept=["a.skip"])
    run = run_of(folder, point)
    assert run.state == "done"
    assert run.architecture == {"a.skip"}
    folder.run(point).result.write_text('{"parameters": 1}')
    assert run_of(folder, point).state == "waiting"


def test_commands_say_what_was_asked_for(tmp_path: Path) -> None:
    folder, what = SweepFolder(tmp_path), asked("lambda=1e-2", batch=16, data="own:data", parameters={"width": 4})
    (point,) = what.points()
    begun = list(arguments(folder, what, point, None, threads=3))
    settings = [word for flag, word in pairwise(begun) if flag == "-s"]
    assert configured([assigned(word) for word in settings]) == point.config.model_copy(update={"threads": 3})
    assert settings[-1] == "lambda=1e-2"
    assert begun[:4] == ["search", str(tmp_path / "space" / "tiny.nas"), "-o", str(tmp_path / "lambda=1e-2,seed=0")]
    folder.run(point).path.mkdir(exist_ok=True)
    folder.run(point).write_json(folder.run(point).manifest_file, {})
    resumed = ["search", "--resume", str(tmp_path / point.name), "--data-dir", "/data", "--display", "plain"]
    assert list(arguments(folder, what, point, None, threads=3)) == [*resumed, "--allow-python"]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.floats(0.0, 0.999), st.booleans())
def test_settings_survive_the_command_line(data: str, momentum: float, flip: bool) -> None:
    settings = {"data": data, "momentum": momentum, "flip": flip, "parameters": {"mode": data}}
    assert configured(map(assigned, words(settings))).model_dump(exclude_unset=True) == settings


def test_what_was_killed_before_it_began_is_begun_anew(tmp_path: Path) -> None:
    folder, (first, second) = SweepFolder(tmp_path), grid(seeds=2)
    for point in (first, second):
        folder.run(point).path.mkdir()
    folder.run(first).write(folder.run(first).space / "tiny.nas", "half")
    folder.run(second).write_json(folder.run(second).manifest_file, {})
    for point in (first, second):
        folder.make_room(point)
    assert not folder.run(first).path.exists()
    assert folder.run(second).manifest_file.exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 2}', "\x00"])
def test_a_damaged_sweep(tmp_path: Path, text: str) -> None:
    folder = SweepFolder(tmp_path)
    folder.request_file.write_text(text)
    with pytest.raises(NasError, match="NAS602: cannot read"):
        folder.request()


def test_the_log_tells_of_the_last_command(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert (last_line(log), first_error(log)) == ("", "no output")
    log.write_text("$ search\nerror[NAS1]: old\n$ search\n")
    assert (last_line(log), first_error(log)) == ("", "no output")
    log.write_text("$ search\nerror[NAS1]: old\n$ search\nstep 1\nerror[NAS2]: new\n --> here\n\nerror[NAS3]: more\n")
    assert (last_line(log), first_error(log)) == ("error[NAS3]: more", "error[NAS2]: new")
    log.write_text("$ search\nstep 1\n" + "x" * 1000 + "\n")
    assert first_error(log) == "x" * 200 + " ..."


@given(st.lists(st.frozensets(st.sampled_from("abcd")), min_size=2, max_size=5))
def test_overlap_is_one_for_equals_and_zero_for_strangers(architectures: list[frozenset[str]]) -> None:
    found = overlap(architectures)
    assert found is not None
    assert 0 <= found <= 1
    assert (found == 1) == (len(set(architectures)) == 1)
    assert found == pytest.approx(overlap(architectures[::-1]))
    if not found:
        assert all(not a & b for i, a in enumerate(architectures) for b in architectures[:i])


def test_tables(tmp_path: Path) -> None:
    folder, found = SweepFolder(tmp_path), grid("lambda=0.1,0.2", seeds=2)
    finish(folder, found[0], kept=["a.conv"], parameters=1000)
    finish(folder, found[1], kept=["a.conv", "a.skip"], parameters=2000)
    finish(folder, found[2])
    runs = [run_of(folder, point) for point in found]
    assert summary(runs) == [
        ("lambda", "done", "parameters", "multiply-adds", "accuracy", "kept", "overlap", "distinct"),
        ("0.1", "2 of 2", "1,500 (1,000-2,000)", "15,000 (10,000-20,000)", "0.5000", "2.5 of 3 (2-3)", "0.50", "2"),
        ("0.2", "1 of 2", "100", "1,000", "0.5000", "2 of 3", "", "1"),
    ]
    rows = list(csv.DictReader(to_csv(runs).splitlines()))
    assert [row["state"] for row in rows] == ["done", "done", "done", "waiting"]
    assert (rows[1]["lambda"], rows[1]["seed"], rows[1]["parameters"]) == ("0.1", "1", "2000")
    assert rows[3]["folder"] == "lambda=0.2,seed=1"
    assert to_markdown("Sweep", runs).count("\n| ") == 4


@dataclass
class Acted:
    """A pool in which each run ends one turn after its start, successfully or with an exit code."""

    folder: SweepFolder
    codes: dict[str, int] = field(default_factory=dict)
    size: int = 2
    started: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    running: tuple[str, ...] = ()
    most: int = 0

    @property
    def room(self) -> bool:
        return len(self.running) < self.size

    def start(self, job: Job) -> None:
        self.started.append(job.name)
        self.running = (*self.running, job.name)
        self.most = max(self.most, len(self.running))

    def ended(self, seconds: float) -> list[tuple[str, int]]:
        name, *rest = self.running
        self.running = tuple(rest)
        code = self.codes.get(name, 0)
        if code == 0:
            (point,) = (point for point in grid("lambda=0.1,0.2", seeds=2) if point.name == name)
            finish(self.folder, point)
        return [(name, code)]

    def stop(self) -> None:
        self.events.append("stop")
        self.codes = dict.fromkeys(self.running, 130)

    def kill(self) -> None:
        self.events.append("kill")


@dataclass
class Notes(SweepWatcher):
    said: list[str] = field(default_factory=list)

    def ended(self, run: Any, number: int, total: int) -> None:
        self.said.append(f"{number}/{total} {run.point.name} {run.state} {run.error}".strip())

    def stopping(self) -> None:
        self.said.append("stopping")

    def turn(self, runs: Sequence[Any]) -> None:
        pass


def sweep_in(path: Path) -> tuple[Sweep, Acted, Notes]:
    folder, what = SweepFolder(path), asked("lambda=0.1,0.2", seeds=2)
    folder.request_file.write_text(what.model_dump_json())
    return Sweep(folder, what, what.points()), Acted(folder), Notes()


def never() -> bool:
    return False


def states(path: Path) -> list[str]:
    with (path / "table.csv").open(newline="") as file:
        return [row["state"] for row in csv.DictReader(file)]


def test_all_points_run_and_a_failure_stops_nobody(tmp_path: Path) -> None:
    sweep, pool, notes = sweep_in(tmp_path)
    pool.codes = {"lambda=0.1,seed=1": 1, "lambda=0.2,seed=0": -signal.SIGKILL}
    (tmp_path / "lambda=0.1,seed=1.log").write_text("$ search\nerror[NAS605]: the loss exploded\n")
    assert sweep.run(pool, 1, never, notes)
    assert notes.said == [
        "1/4 lambda=0.1,seed=0 done",
        "2/4 lambda=0.1,seed=1 failed error[NAS605]: the loss exploded",
        "3/4 lambda=0.2,seed=0 failed ended by SIGKILL",
        "4/4 lambda=0.2,seed=1 done",
    ]
    assert pool.most == 2
    assert states(tmp_path) == ["done", "failed", "failed", "done"]
    assert "- lambda=0.1 seed=1: error[NAS605]: the loss exploded" in (tmp_path / "table.md").read_text()

    again, pool, notes = sweep_in(tmp_path)  # with what failed, and nothing else
    assert again.run(pool, 1, never, notes)
    assert pool.started == ["lambda=0.1,seed=1", "lambda=0.2,seed=0"]
    assert states(tmp_path) == ["done"] * 4


def test_a_sweep_that_is_asked_to_stop(tmp_path: Path) -> None:
    sweep, pool, notes = sweep_in(tmp_path)
    turns = count()
    assert not sweep.run(pool, 1, lambda: next(turns) >= 1, notes)
    assert pool.events == ["stop"]
    assert notes.said == ["1/4 lambda=0.1,seed=0 done", "stopping", "1/4 lambda=0.1,seed=1 stopped"]
    assert states(tmp_path) == ["done", "stopped", "waiting", "waiting"]


def test_a_sweep_that_is_asked_twice(tmp_path: Path) -> None:
    sweep, pool, notes = sweep_in(tmp_path)

    def impatient() -> bool:
        if pool.events:
            raise KeyboardInterrupt
        return bool(pool.running)

    pool.size = 3
    with pytest.raises(KeyboardInterrupt):
        sweep.run(pool, 1, impatient, notes)
    assert states(tmp_path) == ["done", "stopped", "stopped", "waiting"]
