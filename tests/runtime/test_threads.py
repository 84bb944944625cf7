"""Dropping and watching are local to a thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch

from bayesnas_graph.runtime import Watch, dropped, dropping, gated_sum, watched


def test_dropping_is_per_thread() -> None:
    """All threads are inside their own `dropping` at the same time, and exit in any order."""
    together = Barrier(4)

    def kept(probability: float) -> float:
        with dropping(probability, torch.Generator().manual_seed(0)):
            together.wait()
            found = dropped(torch.ones(1000))
            together.wait()
        assert torch.equal(dropped(torch.ones(10)), torch.ones(10)), "nothing is dropped outside"
        return float((found != 0).float().mean())

    with ThreadPoolExecutor(4) as pool:
        shares = list(pool.map(kept, (0.0, 0.25, 0.5, 0.75)))
    for share, expected in zip(shares, (1.0, 0.75, 0.5, 0.25), strict=True):
        assert abs(share - expected) < 0.1


def test_watching_is_per_thread() -> None:
    together = Barrier(4)

    def slopes(factor: float) -> float:
        gates = torch.ones(1, requires_grad=True)
        with watched(Watch()) as watch:
            together.wait()
            total = gated_sum([torch.full((1, 1), factor)], gates)
            together.wait()
        torch.autograd.backward([total.sum()])
        found = watch.slopes(gates)
        assert found is not None
        return float(found)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(slopes, (1.0, 2.0, 3.0, 4.0))) == [1.0, 2.0, 3.0, 4.0]


def test_the_main_thread_is_not_seen_by_others() -> None:
    with dropping(0.5), ThreadPoolExecutor(1) as pool:
        assert torch.equal(pool.submit(dropped, torch.ones(50)).result(), torch.ones(50))
