"""Reading the history of switches, also from damaged files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.history import read_history
from bayesnas_graph.search.events import HISTORY, SCORES

HEAD = ",".join(HISTORY)
SCORED = ",0.8,0.1,0.8,0.8,0.8"


def history(folder: Path, *lines: str, end: str = "\n") -> RunPaths:
    """A table of these lines, with scores at their ends."""
    paths = RunPaths(folder)
    paths.history.write_text("\n".join([HEAD, *(line + SCORED for line in lines)]) + end)
    return paths


def test_moments_of_a_switch(tmp_path: Path) -> None:
    paths = history(
        tmp_path,
        "1,cell:a.conv,1,kept,0.8,2.5,0.7,1.3,1 0.5,0.25 0.125",
        "1,cell:a.skip,1,kept,0.6,1.5,0.9,1.1,1,0.5",
        "2,cell:a.conv,0,own switch off,0,0,1.1,,0 0,0.5 0.5",
    )
    found = read_history(paths)
    assert list(found) == ["cell:a.conv", "cell:a.skip"]
    first, last = found["cell:a.conv"]
    assert (first.keep, first.gamma, first.s, first.omega, first.entropy) == (True, 0.8, 2.5, 0.7, 1.3)
    assert (first.w, first.h) == ((1.0, 0.5), (0.25, 0.125))
    assert (last.iteration, last.keep, last.why, last.gamma, last.entropy) == (2, False, "own switch off", 0.0, None)


@pytest.mark.parametrize("scores", ["", "," * len(SCORES)])
def test_a_table_of_an_older_version(scores: str, tmp_path: Path) -> None:
    """It has no scores; if the search was resumed since then, they are empty."""
    head = HEAD if scores else ",".join(HISTORY[: -len(SCORES)])
    paths = RunPaths(tmp_path)
    paths.history.write_text(f"{head}\n1,a,1,kept,0.8,2.5,0.7,1.3,1 0.5,0.25 0.125{scores}\n")
    (moment,) = read_history(paths)["a"]
    assert (moment.keep, moment.gamma, moment.w, moment.h) == (True, 0.8, (1.0, 0.5), (0.25, 0.125))


@pytest.mark.parametrize("infinite", ["inf", "-inf", "nan", "1.79769e+308", "3.40282e+38"])
def test_infinite_numbers_are_none(tmp_path: Path, infinite: str) -> None:
    (moment,) = read_history(history(tmp_path, f"1,a,1,kept,{infinite},1,1,1,{infinite} 2,3 {infinite}"))["a"]
    assert (moment.gamma, moment.w, moment.h) == (None, (None, 2.0), (3.0, None))


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    good = "1,a,1,kept,1,1,1,1,1,1"
    damaged = [
        "x,a,1,kept,1,1,1,1,1,1",
        "2,a,2,kept,1,1,1,1,1,1",
        "3,a,1,kept,many,1,1,1,1,1",
        "4,a,1,kept,1,1,1,1,one,1",
        "5,a,1",
        "6,,1,kept,1,1,1,1,1,1",
    ]
    assert [m.iteration for m in read_history(history(tmp_path, *damaged, good))["a"]] == [1]


def test_a_line_that_is_being_written_does_not_count(tmp_path: Path) -> None:
    assert read_history(history(tmp_path, "1,a,1,kept,1,1,1,1,1,1", end="")) == {}


def test_moments_come_in_order_and_the_last_that_was_written_counts(tmp_path: Path) -> None:
    line = "{},a,1,kept,{},1,1,1,1,1"
    paths = history(tmp_path, line.format(2, 5), line.format(1, 6), line.format(2, 7))
    assert [(m.iteration, m.gamma) for m in read_history(paths)["a"]] == [(1, 6.0), (2, 7.0)]


def test_no_file(tmp_path: Path) -> None:
    assert read_history(RunPaths(tmp_path)) == {}


@given(st.binary(max_size=200))
def test_any_file(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    paths = RunPaths(tmp_path_factory.getbasetemp())
    paths.history.write_bytes(f"{HEAD}\n1,a,1,kept,1,1,1,1,1,1{SCORED}\n".encode() + content)
    assert read_history(paths)["a"]
