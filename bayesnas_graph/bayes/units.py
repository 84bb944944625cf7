"""The unit of a gate: its value, or its contribution.

A variance is an absolute number, and so is a threshold on it. If the output of a candidate is multiplied by `c`, the
same network has the gate `w / c`, the curvature `c^2 h` and a different variance, so whether the candidate is kept
would depend on the scale of its output. With `r` the magnitude of that output,

    w~ = w r        h~ = h / r^2

do not change. Results computed from these instead of `w` and `h` do not depend on the scale. If all outputs have
magnitude 1, both are the same. The magnitude excludes channel means, because the next norm removes them.
"""

from __future__ import annotations

import torch
from torch import Tensor


def unit(r: Tensor) -> Tensor:
    """The magnitudes of outputs as units; 1 for an output that is always zero."""
    return torch.where(r > 0, r, 1)


def contributions(h: Tensor, w: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
    """Curvatures and gates in units of contributions.

    >>> contributions(h=torch.tensor([8.0]), w=torch.tensor([2.0]), r=torch.tensor([2.0]))
    (tensor([2.]), tensor([4.]))
    """
    size = unit(r)
    return h / size / size, w * size
