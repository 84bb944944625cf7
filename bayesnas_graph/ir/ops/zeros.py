"""What zeros in weights say about channels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesnas_graph.ir import Kept

if TYPE_CHECKING:
    from torch import Tensor


def carried(tensors: Mapping[str, Any], arriving: Kept) -> Kept:
    """The output channels of a layer that can be other than zero: by a weight on what arrives, or by the bias.

    The weight has the output channels first and then the input channels of one group, which tells how many groups
    there are. A dense layer and an ordinary convolution have one, a depthwise convolution one for each channel.
    """
    import torch

    by_group = _is_there(tensors["weight"], len(arriving))
    found = (by_group & torch.tensor(arriving).view(len(by_group), 1, -1)).any(2).flatten()
    if "bias" in tensors:
        found |= tensors["bias"].cpu() != 0
    return tuple(found.tolist())


def needed(tensors: Mapping[str, Any], output: Kept, channels: int) -> Kept:
    """The input channels of a layer, so many there are, that weights lead to some channels of the output."""
    import torch

    by_group = _is_there(tensors["weight"], channels)
    return tuple((by_group & torch.tensor(output).view(len(by_group), -1, 1)).any(1).flatten().tolist())


def _is_there(weight: Tensor, channels: int) -> Tensor:
    """Group by group, output by input: whether any weight between the two is not zero."""
    groups = channels // weight.shape[1]
    return (weight.cpu() != 0).reshape(groups, weight.shape[0] // groups, weight.shape[1], -1).any(3)
