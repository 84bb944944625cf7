"""Masks of weights: 1 for every entry that is kept, 0 for every entry that was removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.train.compress.groups import Groups

Masks = dict[str, dict[str, Tensor]]


def masks_of(groups: Iterable[Groups], weights: ByNode) -> Masks:
    """Return the masks of the weights in groups: the nonzero weights of layers, and all companions of their filters."""
    masks: Masks = {}
    for group in groups:
        for node, name in group.tensors:
            weight = weights[node][name]
            mask = weight != 0 if node == group.layer and name == "weight" else torch.ones_like(weight)
            masks.setdefault(node, {})[name] = mask.to(weight.dtype)
    return masks


def without(masks: Masks, removed: Mapping[Groups, Tensor]) -> Masks:
    """Return the masks when some groups are removed: those with a 1, or True, in `going`.

    A filter that has lost all its weights to other groups is removed too, with its bias and its norm, because it would
    be a constant.
    """
    remaining = {node: dict(named) for node, named in masks.items()}
    for groups, mask in removed.items():
        for node, name, part in groups.spread(mask.bool(), masks):
            remaining[node][name] = remaining[node][name] * ~part
    for groups in removed:
        empty = groups.filters_first(remaining[groups.layer]["weight"]).flatten(1).sum(1) == 0
        for node, name in groups.companions:
            remaining[node][name] = remaining[node][name] * ~empty
    return remaining


def alive(groups: Groups, masks: Masks) -> Tensor:
    """Return a mask of the groups that are not empty."""
    return groups.sums(lambda node, name: masks[node][name]) > 0


def masked(weights: ByNode, masks: Masks) -> dict[str, dict[str, Tensor]]:
    """Return the weights with zeros where the masks have them."""
    result = {node: dict(named) for node, named in weights.items()}
    for node, named in masks.items():
        for name, mask in named.items():
            result[node][name] = weights[node][name] * mask
    return result


@torch.no_grad()
def apply(masks: Masks, weights: ByNode) -> None:
    """Set removed weights to zero, in place."""
    for node, named in masks.items():
        for name, mask in named.items():
            weights[node][name].mul_(mask)
