"""Scores and timings."""

from __future__ import annotations

import time

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph.runs.objectives import Classification
from bayesnas_graph.train.measure import WARM_UP, latency, score
from tests.train.networks import config, device


def test_a_score_is_a_mean_over_samples() -> None:
    """For any batch size."""
    torch.manual_seed(0)
    network, x, y = nn.Linear(4, 3), torch.randn(11, 4), torch.randint(3, (11,))
    whole = score(network, [(x, y)], device(config()), Classification(3))
    parts = score(network, zip(x.chunk(3), y.chunk(3), strict=True), device(config()), Classification(3))
    assert whole.accuracy == parts.accuracy == float((network(x).argmax(1) == y).double().mean())
    expected = F.cross_entropy(network(x), y).item()
    assert whole.loss == pytest.approx(expected)
    assert parts.loss == pytest.approx(expected)


def test_norms_are_at_rest() -> None:
    network = nn.BatchNorm1d(4)
    score(network, [(torch.randn(8, 4), torch.zeros(8, dtype=torch.long))], device(config()), Classification(3))
    assert network.num_batches_tracked == 0


def test_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fake clock on which call number n takes n, so that the ignored first calls are the fastest."""
    seen: list[torch.Size] = []

    class Slow(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            seen.append(x.shape)
            return x + y

    ticks: list[float] = []

    def clock() -> float:
        ticks.append(0.0 if len(ticks) % 2 == 0 else float(len(ticks) // 2))
        return ticks[-1]

    monkeypatch.setattr(time, "perf_counter", clock)
    found = latency(Slow(), [(2, 3), (2, 3)], 7, device(config()), 5)
    assert len(seen) == WARM_UP + 5
    assert set(seen) == {torch.Size((7, 2, 3))}
    assert (found.batch, found.low, found.median, found.high) == (7, WARM_UP + 1, WARM_UP + 2, WARM_UP + 3)
