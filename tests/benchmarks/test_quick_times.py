"""How long the recipes for two cores take: what is measured, and the table of the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quick_times import FOLDER, NAME, PAGE, Times, generated, measured, page, row, spaces
from benchmarks.record import load


def test_the_page_has_the_table_of_the_record() -> None:
    record = load(NAME, FOLDER)
    assert {found["space"] for found in record.rows} <= set(spaces())
    assert generated(record) in PAGE.read_text()
    assert page(record) == PAGE.read_text()


def test_the_parts_add_up() -> None:
    times = Times("digits", warmup=10, iterations=3, steps=20, finish=30, step=0.5, update=2.0, rest=4.0)
    assert times.total == (10 + 60 + 30) * 0.5 + 3 * 2 + 4
    assert row(times) == ("digits", "100", "3", "0.5", "2", "1.0")


def test_a_recipe_is_measured_as_it_is() -> None:
    times = measured("quickstart", Path("data"))
    assert (times.data, times.warmup, times.iterations, times.steps, times.finish) == ("digits", 100, 12, 100, 400)
    assert min(times.step, times.update, times.rest) > 0


@pytest.mark.parametrize("space", ["quickstart", "nasbench201", "darts", "unet"])
def test_what_can_be_measured(space: str) -> None:
    assert space in spaces()
