"""What the prior does in a training: after every step it moves groups of weights towards zero."""

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
    """Its share of a step, for a penalty of these weights on the norms of groups."""

    weights: Mapping[Groups, Tensor]  # lambda omega
    masks: Masks  # what is gone for good
    needed: Collection[str]  # layers of which something must be left

    def __call__(self, learner: TrainLearner, rate: float) -> None:
        config, tensors = learner.problem.config, tensors_of(learner)
        # A gradient counts for this many steps, and so must the penalty that it is to be weighed against.
        steps = 1 / (1 - config.momentum) if config.optimiser == "sgd" else 1
        apply(self.masks, tensors)
        for groups, weight in self.weights.items():
            shrink_towards_zero(groups, tensors, rate * steps * weight, spare_last=groups.layer in self.needed)


@dataclass(frozen=True, eq=False)
class Held:
    """Keeps at zero what is gone for good."""

    masks: Masks

    def __call__(self, learner: TrainLearner, rate: float) -> None:  # noqa: ARG002  # zero is zero at any rate
        apply(self.masks, tensors_of(learner))


@torch.no_grad()
def tensors_of(learner: TrainLearner) -> ByNode:
    """The tensors of every node, which change as the network learns and may be changed."""
    return by_node(learner.module.state_dict(), learner.program)
