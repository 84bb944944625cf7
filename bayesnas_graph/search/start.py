"""Where gates start: so that every candidate contributes as much as any other.

A norm gives values of the size 1, a skip hands on whatever comes, and sums of sums grow from node to node. With all
gates at 1 the largest values would win before anything was learnt. In the unit of contributions a gate that starts at 1
is `w r = 1`, so it starts at one over the size of what it multiplies. That depends on the gates before it, hence the
passes.
"""

from __future__ import annotations

import torch

from bayesnas_graph.bayes.units import unit
from bayesnas_graph.runtime import Watch, watched
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.measure import sizes
from bayesnas_graph.search.problem import Batch

MOST_PASSES = 50  # each settles one more level of the graph, where nothing normalises
CLOSE = 0.01
LARGEST = 1e3  # of a gate: what is nearly nothing is not blown up to something


@torch.no_grad()
def equalise(learner: SearchLearner, batch: Batch) -> None:
    """Set the gates of a learner so that what each contributes has the size 1."""
    supernet, device = learner.supernet, learner.device
    learner.network.train()
    for _ in range(MOST_PASSES):
        with watched(Watch()) as watch, device.autocast():
            supernet.module(batch[0])
        size = sizes(learner, supernet.moments(watch), len(batch[0]))
        before, after = supernet.gates, unit(size).reciprocal().clamp(max=LARGEST)
        supernet.set_gates(after.to(before.dtype))
        if bool(((after / before).log().abs() < CLOSE).all()):
            break
