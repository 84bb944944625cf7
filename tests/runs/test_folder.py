"""Run folders: atomic files, tables that can be truncated, and the lock."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.atomic_files import atomic_write
from bayesnas_graph.runs.folder import RunFolder, new_folder
from bayesnas_graph.runs.tables import append, cut, read_table
from bayesnas_graph.search.events import HISTORY, METRICS, SCORES, SearchRecorder, StepRow
from bayesnas_graph.search.progress import SearchProgress
from tests.search.spaces import SHORT, Notes, device, problem, search


class Broken(Exception):
    pass


def code_of(error: pytest.ExceptionInfo[NasError]) -> str:
    (diagnostic,) = error.value.diagnostics
    return diagnostic.code


# -------------------------------------------------------------------------------------------- files


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with atomic_write(path) as file:
        file.write(b"one")
        assert not path.exists(), "it is not there before it is whole"
    assert path.read_bytes() == b"one"
    with suppress(Broken), atomic_write(path) as file:
        file.write(b"two, but not")
        raise Broken
    assert path.read_bytes() == b"one"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
def test_a_disk_that_fails(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: int) -> None:
        raise OSError(number, os.strerror(number))

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(NasError) as error:
        RunFolder(tmp_path).write(tmp_path / "file", "new")
    assert error.value.diagnostics[0].message == (f"cannot write `{tmp_path / 'file'}`: {os.strerror(number).lower()}")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]


def test_leftovers_of_a_kill_are_harmless(tmp_path: Path) -> None:
    (tmp_path / ".file.part").write_text("half of a fi")
    RunFolder(tmp_path).write(tmp_path / "file", "whole")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "whole")]


# --------------------------------------------------------------------------------------------- lock


def test_one_at_a_time(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    for _ in range(2):
        with run.locked():
            with pytest.raises(NasError) as error, RunFolder(tmp_path).locked():
                pass
            assert code_of(error) == "NAS602"


def test_a_lock_that_cannot_be_made(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.lock.mkdir()
    with pytest.raises(NasError) as error, run.locked():
        pass
    assert code_of(error) == "NAS012"


@contextmanager
def protected(folder: Path) -> Iterator[None]:
    """Make a folder read-only; root can write anyway, so switch to `nobody`."""
    user = os.geteuid()
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)


def test_a_protected_folder(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    nothing(0)  # imports what `nobody` may not read
    with protected(tmp_path):
        for attempt in (
            lambda: run.locked().__enter__(),
            lambda: new_folder(tmp_path / "run", "run"),
            lambda: run.write(tmp_path / "file", "text"),
            lambda: recorded(tmp_path),
        ):
            with pytest.raises(NasError, match="permission denied"):
                attempt()


# ------------------------------------------------------------------------------------------- tables


def row(step: int) -> StepRow:
    return StepRow(step, 0, 1.0, 0.5, 0.1, 0.05, 0.001, 7)


def recorded(folder: Path, *steps: int) -> SearchRecorder:
    record = SearchRecorder(RunFolder(folder), "tiny")
    record.started(*nothing(0))
    for step in steps:
        record.logged(row(step))
    return record


def nothing(step: int) -> tuple[Any, Any, SearchProgress]:
    """What a recorder is told, as far as it listens."""
    asked = problem()
    return asked, SimpleNamespace(device=device(asked.config)), SearchProgress(step=step)


def steps(folder: Path) -> list[int]:
    return [int(found["step"]) for found in read_table(RunFolder(folder).metrics)]


def test_rows_after_the_checkpoint_are_cut_off(tmp_path: Path) -> None:
    record = recorded(tmp_path, 5, 10, 15, 20)
    record.started(*nothing(10))
    assert steps(tmp_path) == [5, 10]
    record.logged(row(15))
    assert steps(tmp_path) == [5, 10, 15]


def test_half_a_row_is_none(tmp_path: Path) -> None:
    """As left by a kill, at any character; earlier rows are kept."""
    record = recorded(tmp_path, 5, 10)
    metrics = RunFolder(tmp_path).metrics
    whole = metrics.read_bytes()
    record.logged(row(15))
    longer = metrics.read_bytes()
    for length in range(len(whole), len(longer) + 1):
        metrics.write_bytes(longer[:length])
        record.started(*nothing(10))
        assert metrics.read_bytes() == whole


def test_rows_of_an_older_version_are_kept(tmp_path: Path) -> None:
    """They lack the last five columns, which stay empty; columns that are not known start a new table."""
    path = tmp_path / "switches.csv"
    older = HISTORY[: -len(SCORES)]
    assert SCORES == ("worth", "error", "relevance", "removal", "magnitude")
    rows = [[str(iteration), *(f"{name} {iteration}" for name in older[1:])] for iteration in (1, 2, 3)]
    append(path, [older, *rows])
    cut(path, HISTORY, "iteration", 2)
    append(path, [["3", *HISTORY[1:]]])
    found = read_table(path)
    assert [list(row) for row in found] == [list(HISTORY)] * 3
    for row, before in zip(found, rows[:2], strict=False):
        assert [row[name] for name in older] == before
        assert [row[name] for name in SCORES] == [""] * len(SCORES)
    assert found[2]["worth"] == "worth"
    path.unlink()
    append(path, [(*older, "unknown"), (*rows[0], "1")])
    cut(path, HISTORY, "iteration", 2)
    assert path.read_text() == ",".join(HISTORY) + "\n"


@given(garbage=st.binary(max_size=80), where=st.sampled_from(["before", "instead", "after"]))
def test_a_damaged_table_is_restarted(garbage: bytes, where: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    record = recorded(folder, 5, 10)
    metrics = RunFolder(folder).metrics
    whole = metrics.read_bytes()
    metrics.write_bytes({"before": garbage + whole, "instead": garbage, "after": whole + garbage}[where])
    record.started(*nothing(10))
    assert metrics.read_text().splitlines()[0] == ",".join(METRICS)
    assert set(steps(folder)) <= {*range(11)}
    record.logged(row(15))
    assert steps(folder)[-1] == 15


def test_tables_of_a_search(tmp_path: Path) -> None:
    run, notes = RunFolder(tmp_path), Notes()
    search(problem(), run.checkpoints, notes).run()
    search(problem(), tmp_path / "again", SearchRecorder(run, "tiny")).run()
    assert steps(tmp_path) == [found.step for found in notes.rows]
    updates = read_table(run.updates)
    assert [int(found["iteration"]) for found in updates] == list(range(1, SHORT["iterations"] + 1))
    history = read_table(run.history)
    for found in notes.iterations:
        mine = [entry for entry in history if int(entry["iteration"]) == found.number]
        for entry, verdict in zip(mine, found.decision.verdicts, strict=True):
            assert (entry["switch"], entry["keep"], entry["why"]) == (verdict.name, str(int(verdict.keep)), verdict.why)
            assert [float(value) for value in entry["w"].split()] == pytest.approx(verdict.w, rel=1e-5)
            assert float(entry["gamma"]) == pytest.approx(verdict.gamma, rel=1e-5)
