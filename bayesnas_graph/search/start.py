"""The start values of gates, chosen so that all candidates contribute equally.

A norm returns values of magnitude 1, a skip passes on any value, and sums of sums grow from node to node. With all
gates at 1, the largest values would win before anything is learnt. A gate thus starts at one over the magnitude of its
input, which is `w r = 1` in the unit of the prior. The input depends on the gates before it, hence several passes.
"""

from __future__ import annotations

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


@torch.no_grad()
def equalise(learner: SearchLearner, batch: Batch, *, zeros: bool = True) -> None:
    """Set the gates of a learner so that every contribution has magnitude 1; zero switches only with `zeros`."""
    supernet, device = learner.supernet, learner.device
    learner.network.train()
    for _ in range(MOST_PASSES):
        with watched(Watch()) as watch, device.autocast():
            supernet.module(batch[0])
        size = sizes(learner, supernet.moments(watch), len(batch[0]))
        before = supernet.gates
        after = _equal(learner, size) if zeros else _standard(learner, size)
        supernet.set_gates(after.to(before.dtype))
        if bool(((after / before).log().abs() < CLOSE).all()):
            break


@torch.no_grad()
def set_standard_point(learner: SearchLearner, sizes: Tensor) -> None:
    """Set the gates so that all candidates contribute equally, given the magnitude of each gate's input."""
    gates = learner.supernet.gates
    learner.supernet.set_gates(_standard(learner, sizes).to(gates.dtype))


def _standard(learner: SearchLearner, sizes: Tensor) -> Tensor:
    """Return the gates at which all candidates contribute equally to their node; zero switches are at 1."""
    return torch.where(learner.switches.is_zero[learner.switches.group], 1, _equal(learner, sizes))


def _equal(learner: SearchLearner, sizes: Tensor) -> Tensor:
    """Return the gates at which all inputs have magnitude 1.

    The candidates of a chosen width are parts of one value. It keeps its magnitude: their gates add up to 1.
    """
    shares = {
        edge.gate.name: 1 / len(learner.graph.inputs(node.name))
        for node in learner.graph
        if node.op.chooses_width
        for edge in learner.graph.inputs(node.name)
        if edge.gate is not None
    }
    equal = unit(sizes).reciprocal().clamp(max=LARGEST)
    fixed = equal.new_tensor([shares.get(name, 0) for name in learner.supernet.names])
    return torch.where(fixed > 0, fixed, equal)
