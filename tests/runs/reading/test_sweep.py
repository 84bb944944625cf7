"""The state of the runs of a sweep, from their folders and the table."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.reading.sweep import read_sweep
from bayesnas_graph.runs.sweep.folder import SweepFolder
from tests.runs.sweep.sweeps import asked, finish


@pytest.fixture
def folder(tmp_path: Path) -> SweepFolder:
    found = SweepFolder(tmp_path)
    found.own.write(found.request_file, asked("lambda=0.1,0.2", seeds=2, data="digits").model_dump_json())
    return found


def states(folder: SweepFolder) -> list[str]:
    return [run.state for run in read_sweep(folder.path)[1]]


def test_nothing_started(folder: SweepFolder) -> None:
    assert states(folder) == ["waiting"] * 4


def test_each_state(folder: SweepFolder) -> None:
    done, failed, stopped, running = folder.request().points()
    finish(folder, done)
    for point in (stopped, running):
        folder.run(point).path.mkdir()
        folder.run(point).write(folder.run(point).manifest_file, "{}")
    folder.table.write_text(
        "folder,state,error\n"
        + "".join(f'"{p.name}",{s},"a, b"\n' for p, s in [(failed, "failed"), (stopped, "running")])
    )
    with FileLock(folder.run(running).lock):
        assert states(folder) == ["done", "failed", "stopped", "running"]
        assert read_sweep(folder.path)[1][1].error == "a, b"


def test_finished_runs_are_done_whatever_the_table_says(folder: SweepFolder) -> None:
    first = folder.request().points()[0]
    finish(folder, first)
    folder.table.write_text(f'folder,state,error\n"{first.name}",failed,x\n')
    assert states(folder)[0] == "done"


def test_no_sweep(tmp_path: Path) -> None:
    with pytest.raises(NasError, match="is not a sweep folder"):
        read_sweep(tmp_path)
