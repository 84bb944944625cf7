"""Channels that are reachable despite zeros in the weights of a layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesnas_graph.ir import Mask

if TYPE_CHECKING:
    from torch import Tensor


def reached_outputs(tensors: Mapping[str, Any], nonzero: Mask) -> Mask:
    """The output channels that can be nonzero: by a weight on a nonzero input channel, or by the bias.

    The weight has the output channels first and then the input channels of one group, which determines the number of
    groups: one in a dense layer and an ordinary convolution, one per channel in a depthwise convolution.
    """
    import torch

    by_group = _has_weight(tensors["weight"], len(nonzero))
    reached = (by_group & torch.tensor(nonzero).view(len(by_group), 1, -1)).any(2).flatten()
    if "bias" in tensors:
        reached |= tensors["bias"].cpu() != 0
    return tuple(reached.tolist())


def read_inputs(tensors: Mapping[str, Any], output: Mask, channels: int) -> Mask:
    """The input channels, out of `channels`, that weights connect to some channels of the output."""
    import torch

    by_group = _has_weight(tensors["weight"], channels)
    return tuple((by_group & torch.tensor(output).view(len(by_group), -1, 1)).any(1).flatten().tolist())


def _has_weight(weight: Tensor, channels: int) -> Tensor:
    """Group by group, output by input: whether any weight between the two is nonzero."""
    groups = channels // weight.shape[1]
    return (weight.cpu() != 0).reshape(groups, weight.shape[0] // groups, weight.shape[1], -1).any(3)
