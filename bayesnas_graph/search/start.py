"""The start values of gates, chosen so that all candidates contribute equally.

A norm returns values of magnitude 1, a skip passes on any value, and sums of sums grow from node to node. With all
gates at 1, the largest values would win before anything is learnt. Where gates are trained, each starts at one over the
magnitude of its input, which is `w r = 1` in the unit of the prior. Where they stay, at the standard point, the
candidates of a node together have the magnitude of one of them. The input of a gate depends on the gates before it,
hence several passes.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import geometric_mean

import torch
from torch import Tensor

from bayesnas_graph.bayes.units import unit
from bayesnas_graph.runtime import Watch, watched
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.measure import sizes
from bayesnas_graph.search.problem import Batch

MOST_PASSES = 50  # each settles one more level of the graph, unless something normalises
CLOSE = 0.01
LARGEST = 1e3  # of a gate: values close to zero are not amplified further
RANGE = 30  # between the magnitudes of candidates: one that has died is not amplified further


@torch.no_grad()
def equalise(learner: SearchLearner, batch: Batch) -> None:
    """Set all gates of a learner so that every contribution has magnitude 1."""
    _settle(learner, batch, lambda found: unit(found).reciprocal().clamp(max=LARGEST))


@torch.no_grad()
def start_at_standard_point(learner: SearchLearner, batch: Batch) -> None:
    """Set the gates of a learner to its standard point."""
    _settle(learner, batch, lambda found: _standard(learner, found))


@torch.no_grad()
def set_standard_point(learner: SearchLearner, sizes: Tensor) -> None:
    """Set the gates to the standard point, given the magnitude of each gate's input."""
    learner.supernet.set_gates(_standard(learner, sizes).to(learner.supernet.gates.dtype))


def _settle(learner: SearchLearner, batch: Batch, gates: Callable[[Tensor], Tensor]) -> None:
    """Set the gates to a function of the magnitudes of their inputs, until these do not change any more."""
    supernet, device = learner.supernet, learner.device
    learner.network.train()
    for _ in range(MOST_PASSES):
        with watched(Watch()) as watch, device.autocast():
            supernet.module(batch[0])
        before = supernet.gates
        after = gates(sizes(learner, supernet.moments(watch), len(batch[0])))
        supernet.set_gates(after.to(before.dtype))
        if bool(((after / before).log().abs() < CLOSE).all()):
            break


def _standard(learner: SearchLearner, sizes: Tensor) -> Tensor:
    """Return the gates at which all candidates contribute equally to their node; zero switches are at 1.

    A node then has the mean of its candidates, all brought to one magnitude: the geometric mean of theirs. So values
    grow neither with the number of candidates nor because small ones are amplified. The candidates of a chosen width
    are parts of one value, whose mean is taken as it is.
    """
    size = dict(zip(learner.supernet.names, unit(sizes).tolist(), strict=True))
    gates: dict[str, float] = {}
    for node in learner.graph:
        inputs = [edge.gate for edge in learner.graph.inputs(node.name) if edge.gate is not None]
        candidates = [gate.name for gate in inputs if not gate.is_zero]
        if not candidates:
            continue
        least = max(size[name] for name in candidates) / RANGE
        own = {name: max(size[name], least) for name in candidates}
        typical = geometric_mean(own.values())
        for name in candidates:
            gates[name] = (1 if node.op.chooses_width else typical / own[name]) / len(candidates)
    return sizes.new_tensor([gates.get(name, 1) for name in learner.supernet.names])
