"""Learning rates and random numbers depend only on the step."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.schedule import rate
from bayesnas_graph.runs.seeds import generator, mixed, seed_everything

SCHEDULES = ["cosine", "linear", "step", "constant"]


@given(
    schedule=st.sampled_from(SCHEDULES),
    final=st.floats(0, 0.9),
    rising=st.integers(0, 40),
    total=st.integers(1, 60),
)
def test_rates(schedule: str, final: float, rising: int, total: int) -> None:
    config = SearchConfig.model_validate(
        {"rate": 0.1, "schedule": schedule, "final_rate": final, "rate_warmup": rising}
    )
    rates = [rate(config, step, total) for step in range(total)]
    assert 0 <= min(rates) <= max(rates) <= 0.1 * (1 + 1e-9)
    top = min(rising, total)
    assert rates[:top] == sorted(rates[:top]), "it rises"
    assert rates[top:] == sorted(rates[top:], reverse=True), "and then it falls"
    assert all(one >= 0.1 * final * (1 - 1e-9) for one in rates[top:])
    if rising < total:
        assert rates[top] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("cosine", [1.0, 0.75, 0.5, 0.25, 0.1464466]),
        ("linear", [1.0, 2 / 3, 1 / 2, 1 / 3, 1 / 4]),
        ("step", [1.0, 1.0, 0.1, 0.1, 0.01]),
        ("constant", [1.0, 1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_shapes(schedule: str, expected: list[float]) -> None:
    config = SearchConfig.model_validate({"rate": 1.0, "schedule": schedule, "final_rate": 0.0})
    assert [rate(config, step, 120) for step in (0, 40, 60, 80, 90)] == pytest.approx(expected)


def drawn() -> tuple[float, float, float]:
    return random.random(), float(np.random.rand()), float(torch.rand(()))


def test_seeds() -> None:
    seed_everything(0, "step", 3)
    first = drawn()
    drawn()
    seed_everything(0, "step", 3)
    assert drawn() == first
    others = set()
    for numbers in [(0, "step", 4), (1, "step", 3), (0, "other", 3), (0, "step", 3, 1), (0, "step", "3")]:
        seed_everything(*numbers)
        others.add(drawn())
    assert len(others | {first}) == 6
    assert len({mixed(seed, "step", step) for seed in range(30) for step in range(30)}) == 900


def test_generators_take_nothing_from_others() -> None:
    torch.manual_seed(0)
    state = torch.random.get_rng_state()
    one, other = (torch.rand(3, generator=generator(torch.device("cpu"), 5, "curvature", 1)) for _ in range(2))
    assert torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), state)
