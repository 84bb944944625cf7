"""The effect of the prior on training: after every step, it moves groups of weights towards zero."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.codegen.emit import by_node
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.train.compress.groups import Groups
from bayesnas_graph.train.compress.masks import Masks, apply
from bayesnas_graph.train.compress.prior import shrink_towards_zero
from bayesnas_graph.train.learner import TrainLearner


@dataclass(frozen=True, eq=False)
class Penalty:
    """The step of a penalty on the norms of groups."""

    weights: Mapping[Groups, Tensor]  # lambda omega
    masks: Masks  # of removed weights
    needed: Collection[str]  # layers that must keep at least one group

    def __call__(self, learner: TrainLearner, rate: float) -> None:
        config, tensors = learner.problem.config, tensors_of(learner)
        # With momentum, a gradient acts for this many steps, so the penalty must too.
        steps = 1 / (1 - config.momentum) if config.optimiser == "sgd" else 1
        apply(self.masks, tensors)
        for groups, weight in self.weights.items():
            shrink_towards_zero(groups, tensors, rate * steps * weight, spare_last=groups.layer in self.needed)


@dataclass(frozen=True, eq=False)
class Held:
    """Keeps removed weights at zero."""

    masks: Masks

    def __call__(self, learner: TrainLearner, rate: float) -> None:  # noqa: ARG002  # does not depend on the rate
        apply(self.masks, tensors_of(learner))


@torch.no_grad()
def tensors_of(learner: TrainLearner) -> ByNode:
    """Return the tensors of every node. They are shared with the network, and may be changed in place."""
    return by_node(learner.module.state_dict(), learner.program)
