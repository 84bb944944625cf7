"""Grids of settings, and their errors."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.sweep.grid import LONGEST, axis
from tests.runs.sweep.sweeps import grid


def test_a_grid_is_a_product_and_seeds_are_its_last_axis() -> None:
    found = grid("lambda=0.1,0.2", "parameters.width=4, 8", seeds=2, told=["seed=7", "batch=32"])
    assert [point.shown for point in found][:3] == [
        "lambda=0.1 parameters.width=4 seed=7",
        "lambda=0.1 parameters.width=4 seed=8",
        "lambda=0.1 parameters.width=8 seed=7",
    ]
    assert len(found) == 8
    last = found[-1].config
    assert (last.lambda_w, last.parameters, last.seed, last.batch) == (0.2, {"width": 8}, 8, 32)


def test_names_of_folders_can_be_read_and_differ() -> None:
    assert [point.name for point in grid("lambda=0.005,5e-3_1")] == ["lambda=0.005,seed=0", "lambda=5e-3_1,seed=0"]
    names = [point.name for point in grid(f"data=folder:/a,'folder:_a',{'long' * 99},Digits,digits")]
    assert names[0] == "data=folder_a,seed=0"
    assert len({name.lower() for name in names}) == 5
    assert all("/" not in name and len(name) < LONGEST + 8 for name in names)


@given(st.lists(st.text(st.characters(exclude_characters=",\"'{}", exclude_categories=["C"]), min_size=1), min_size=1))
def test_values_are_what_stands_between_commas(values: list[str]) -> None:
    if all(map(str.strip, values)):
        assert [value.text for value in axis(f"data={','.join(values)}").values] == [v.strip() for v in values]


def said(*texts: str, seeds: int = 1, told: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The message about a grid and the marked text."""
    with pytest.raises(NasError) as error:
        grid(*texts, seeds=seeds, told=told)
    assert {d.code for d in error.value.diagnostics} == {"NAS601"}
    return [(d.message, d.primary.span.text if d.primary else "") for d in error.value.diagnostics]


def test_every_wrong_value_is_pointed_at_once() -> None:
    found = said("lambda=0.1,abc,-1", "batch=0,8", seeds=3)
    assert [(message.partition(" ")[0], value) for message, value in found] == [
        ("`batch`", "0"),
        ("`lambda`", "abc"),
        ("`lambda`", "-1"),
    ]


def test_an_unknown_key_is_pointed_at_once() -> None:
    assert said("lamda=0.1,0.2,0.3") == [("unknown setting `lamda`", "lamda")]


def test_settings_that_do_not_go_together() -> None:
    assert said("batch=8,9", "accumulate=1,2") == [("`accumulate` is 2, which does not divide `batch`, 9", "")]


@pytest.mark.parametrize("values", ["0.1,0.2,0.10", "1,1e0"])
def test_the_same_search_twice(values: str) -> None:
    last = values.rpartition(",")[2]
    assert said(f"lambda={values}", "batch=8,16") == [(f"`{last}` makes no difference", last)]


def test_a_grid_that_is_none() -> None:
    assert said("lambda") == [("`lambda` is not an axis of a sweep", "lambda")]
    assert said("lambda=1,,2") == [("a value of `lambda` is missing", "")]
    assert said("lambda=1, ") == [("a value of `lambda` is missing", "")]
    assert said("seed=1,2") == [("a seed cannot be an axis of a grid", "seed")]
    assert said("lambda=1", "lambda=2") == [("`lambda` is swept twice", "lambda")]
    assert said("lambda=1,2", seeds=6000) == [("the grid has 12,000 runs", "")]
    ((message, value),) = said(told=["seed=2147483647"], seeds=2)
    assert (message.partition(" ")[0], value) == ("`seed`", "--seeds 2")
