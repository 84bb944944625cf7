"""In what a gate is measured: by itself, or by what it contributes.

A variance is an absolute number, and a threshold on it too. If the output of a candidate is multiplied by `c`, the
same network has the gate `w / c` and the curvature `c^2 h`, and another variance: whether the candidate is
kept would depend on the scale in which its output happens to come. With `r` the size of that output,

    w~ = w r        h~ = h / r^2

do not change. Whatever is computed from these, in place of `w` and `h`, is blind to the scale. Where all outputs
have the size 1 it is the same. The size is what varies: the mean of a channel is taken away by the norm that reads it.
"""

from __future__ import annotations

import torch
from torch import Tensor


def unit(r: Tensor) -> Tensor:
    """The sizes of outputs as units. An output that is always zero gives none, and its gate is taken as it is."""
    return torch.where(r > 0, r, 1)


def contributions(h: Tensor, w: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
    """Curvatures and gates, measured by what the gates contribute.

    >>> contributions(h=torch.tensor([8.0]), w=torch.tensor([2.0]), r=torch.tensor([2.0]))
    (tensor([2.]), tensor([4.]))
    """
    size = unit(r)
    return h / size / size, w * size
