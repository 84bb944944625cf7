"""The threshold between on and off."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
import torch

from bayesnas_graph.bayes import THRESHOLD, entropy, keep
from tests.bayes.numbers import DTYPES


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_threshold_itself_is_off(dtype: torch.dtype) -> None:
    line = torch.tensor(THRESHOLD, dtype=dtype)
    up, down = (torch.nextafter(line, torch.tensor(to, dtype=dtype)) for to in (math.inf, 0.0))
    assert keep(torch.stack([down, line, up])).tolist() == [False, False, True]


def test_entropy_of_a_normal_distribution() -> None:
    gamma = torch.tensor([1e-30, 0.5, 1.0, 7.0, 1e30], dtype=torch.float64)
    deviations = map(math.sqrt, gamma.tolist())
    expected = [NormalDist(0, deviation).pdf(0) for deviation in deviations]  # the entropy is 1/2 - ln of this
    torch.testing.assert_close(entropy(gamma), 0.5 - torch.tensor(expected, dtype=torch.float64).log())
    assert entropy(torch.tensor(0.0)).item() == -math.inf
    assert pytest.approx(0.058549831524319, abs=1e-15) == THRESHOLD


def test_kept_switches_have_positive_entropy() -> None:
    gamma = torch.cat([torch.logspace(-30, 30, 1001, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)])
    assert torch.equal(keep(gamma), entropy(gamma) > 0)
