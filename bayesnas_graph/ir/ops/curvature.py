"""What a curvature rule is given.

The rules carry a diagonal backwards through the graph: from the second derivative of the loss with respect to
every value of an output to that with respect to every value of an input. For an operation with the Jacobian J
and the diagonal H of its output this is the diagonal of `J^T diag(H) J`, that is `sum_o H_o J_oi^2`, and for
functions of single values also the term of their second derivative. What a diagonal cannot hold, the second
derivatives with respect to two different values, is dropped by each rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """An operation where it stands: what went in, what came out, and how the loss curves there.

    All tensors have the batch first, and `hessian` and `gradient` are those of each sample's own loss. Rules for
    smooth activations use both; with a gradient of zeros they give the Gauss-Newton part alone.

    Two things are the duty of who calls a rule: modules are in evaluation mode, because batch norm with the
    statistics of the batch couples samples, and nothing is recorded for differentiation (`torch.no_grad`). What a
    rule returns may share memory with what it was given, or with itself: it is for reading.
    """

    inputs: tuple[Tensor, ...]
    output: Tensor
    hessian: Tensor  # the diagonal of the second derivative with respect to the output
    gradient: Tensor  # the first derivative with respect to the output
    module: Any = None  # the module that computed it, where the operation has one; which class, the operation knows


def per_channel(values: Tensor) -> Tensor:
    """The sum over positions, and the mean over samples: what a parameter per channel gets to feel."""
    return values.reshape(*values.shape[:2], -1).sum(2).mean(0)
