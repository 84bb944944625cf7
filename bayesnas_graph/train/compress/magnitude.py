"""The baseline: groups of weights are pruned by magnitude, all at once, without regard to the data."""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.ir import Graph
from bayesnas_graph.train.compress.groups import Groups
from bayesnas_graph.train.compress.masks import masks_of
from bayesnas_graph.train.compress.selection import Pruning, Ranked, SizeTarget, prune


def pruned_by_magnitude(graph: Graph, weights: ByNode, groups: tuple[Groups, ...], target: SizeTarget) -> Pruning:
    """Remove the smallest groups until the network meets the target.

    Layers have weights of different magnitude, so the root mean square of a group is divided by that of its layer.
    """
    masks = masks_of(groups, weights)
    sizes = {some: _relative(some, weights) for some in groups}
    ranked = Ranked.by(sizes, sizes, masks)
    return prune(graph, weights, masks, ranked, len(ranked.costs), target)


def _relative(groups: Groups, weights: ByNode) -> Tensor:
    members = groups.sums(lambda node, name: torch.ones_like(weights[node][name]))
    layer = weights[groups.layer]["weight"]
    return groups.norms(weights) / members.sqrt() / layer.square().mean().sqrt().clamp(min=1e-30)
