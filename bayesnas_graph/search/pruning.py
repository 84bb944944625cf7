"""Closing switches for good in a training loop of one's own, with the weights and what an optimizer has remembered."""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision
from bayesnas_graph.codegen.emit import transfer
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.passes.analysis import cuts
from bayesnas_graph.runs.optimizer import memory_of
from bayesnas_graph.search.learner import weights


def pruned_supernet(net: Supernet, decision: Decision) -> Supernet:
    """Return a new supernet without the switches that a decision closes, with copies of weights, statistics and gates.

    Its outputs are those of the whole supernet with these gates at 0, except that a mean is the mean of what is left.
    """
    graph = passes.prune(net.graph, decision.off)
    with torch.random.fork_rng(devices=[]):  # random weights are replaced
        found = Supernet.with_options(graph, net.options, fuse=net.fuse)
    like = next(net.parameters())
    found.to(like.device, like.dtype).train(net.training)
    found.module.load_state_dict(_moved(dict(net.module.state_dict()), net, found))
    return found


def carry_momentum(
    before: torch.optim.Optimizer, net: Supernet, after: torch.optim.Optimizer, pruned: Supernet
) -> None:
    """Give the optimizer of a pruned supernet what that of the whole one has remembered about the same weights.

    What it has remembered about other parameters, such as those of a head, stays theirs.
    """
    memory = memory_of(before, weights(net))
    moved = {kind: _moved(values, net, pruned) for kind, values in memory.items()}
    for name, parameter in weights(pruned):
        own = {kind: values[name].clone() for kind, values in moved.items() if name in values}
        if own:
            after.state[parameter] = own
    others = {parameter for group in after.param_groups for parameter in group["params"]}
    for parameter in others.intersection(before.state):
        after.state[parameter] = deepcopy(before.state[parameter])


def _moved(tensors: dict[str, Tensor], net: Supernet, pruned: Supernet) -> dict[str, Tensor]:
    """Return tensors of the weights of a supernet as those of the pruned one."""
    return transfer(tensors, net.program, pruned.program, cuts(net.graph, pruned.graph))
