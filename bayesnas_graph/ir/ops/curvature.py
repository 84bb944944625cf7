"""The arguments of a curvature rule.

The rules propagate a diagonal backwards through the graph: from the second derivative of the loss with respect to
every value of an output to that with respect to every value of an input. For an operation with Jacobian J and output
diagonal H this is the diagonal of `J^T diag(H) J`, that is `sum_o H_o J_oi^2`; functions of single values add the
term of their second derivative. Each rule drops the second derivatives with respect to two different values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """One use of an operation: its inputs and output, and the curvature of the loss there.

    All tensors have the batch first, and `hessian` and `gradient` are those of each sample's own loss. Rules for
    smooth activations use both; with a gradient of zeros they give the Gauss-Newton part alone.

    The caller must put modules into evaluation mode, because batch norm with the statistics of the batch couples
    samples, and must disable autograd (`torch.no_grad`). The tensors that a rule returns may share memory with its
    arguments or with each other: do not modify them.
    """

    inputs: tuple[Tensor, ...]
    output: Tensor
    hessian: Tensor  # the diagonal of the second derivative with respect to the output
    gradient: Tensor  # the first derivative with respect to the output
    module: Any = None  # the module that computed it, if the operation has one


def per_channel(values: Tensor) -> Tensor:
    """The sum over positions and the mean over samples: the curvature of a parameter added to each channel."""
    return values.reshape(*values.shape[:2], -1).sum(2).mean(0)


def along_channels(values: Tensor, like: Tensor) -> Tensor:
    """One value per channel, or per sample and channel, in a shape that broadcasts over a batch of images or others."""
    return values.reshape(*values.shape, *[1] * (like.ndim - 2))


def handed_to(positions: Tensor, hessian: Tensor, like: Tensor) -> Tensor:
    """The curvature of an image of which only some positions, counted row by row, reach the output, perhaps twice."""
    zeros = hessian.new_zeros(like.shape).flatten(2)
    return zeros.scatter_add(2, positions.flatten(2), hessian.flatten(2)).reshape(like.shape)
