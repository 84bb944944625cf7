"""Records: written, read back, appended to, never mixed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.record import Record, append, load, path_of, resumed, save, saved_names

RECORD = Record.begin(
    "made_up", "python -m benchmarks.made_up", ["space", "seed"], seeds=[0], settings={"sizes": (1, 2)}
)


def row(seed: int, seconds: float = 1.0) -> dict[str, object]:
    return {"space": "darts", "seed": seed, "seconds": [seconds, 2.0]}


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    record = RECORD.with_rows([row(0), row(1)])
    save(record, tmp_path)
    assert load("made_up", tmp_path) == record
    assert saved_names(tmp_path) == ["made_up"]


def test_numbers_have_no_more_digits_than_they_are_good_for() -> None:
    (found,) = RECORD.with_rows([row(0, 1 / 3)]).rows
    assert found["seconds"] == [0.33333, 2.0]


def test_a_row_is_a_line(tmp_path: Path) -> None:
    lines = save(RECORD.with_rows([row(0)]), tmp_path).read_text().splitlines()
    assert '    {"space": "darts", "seed": 0, "seconds": [1.0, 2.0]}' in lines


def test_nothing_tells_whose_machine_it_was(tmp_path: Path) -> None:
    found = json.loads(save(RECORD, tmp_path).read_text())
    assert list(found["machine"]) == ["processor", "cores", "memory, GiB", "threads"]
    assert list(found["versions"]) == ["Python", "torch", "bayesnas-graph"]


def test_a_row_with_the_same_key_takes_the_place_of_the_other() -> None:
    record = RECORD.with_rows([row(0, 1.0), row(1)]).with_rows([row(0, 5.0)])
    assert [found["seconds"][0] for found in record.rows] == [5.0, 1.0]
    assert record.row(space="darts", seed=1) == row(1)
    assert record.row(space="darts", seed=2) is None
    assert record.values("space") == ["darts"]
    assert record.where(seed=0) == [row(0, 5.0)]


def test_rows_are_added_one_at_a_time_and_found_again(tmp_path: Path) -> None:
    assert resumed(RECORD, tmp_path).rows == ()
    append(RECORD, row(0), tmp_path)
    whole = append(replace(RECORD, seeds=(3,)), row(3), tmp_path)
    assert whole == load("made_up", tmp_path)
    assert whole.seeds == (0, 3)
    assert [found["seed"] for found in resumed(RECORD, tmp_path).rows] == [0, 3]


def test_rows_of_other_settings_are_not_added_to(tmp_path: Path) -> None:
    save(RECORD.with_rows([row(0)]), tmp_path)
    before = path_of("made_up", tmp_path).read_text()
    with pytest.raises(ValueError, match=r"made_up\.json was made with other settings: delete it to start over"):
        append(replace(RECORD, settings={"sizes": [1, 2, 3]}), row(1), tmp_path)
    assert path_of("made_up", tmp_path).read_text() == before
