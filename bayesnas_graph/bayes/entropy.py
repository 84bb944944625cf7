"""A switch is off when the normal distribution of its gate has no entropy left."""

from __future__ import annotations

import math

from torch import Tensor

# The entropy of a normal distribution with the variance gamma is ln(2 pi e gamma) / 2, which is zero here.
THRESHOLD = 1 / (2 * math.pi * math.e)


def entropy(gamma: Tensor) -> Tensor:
    """The entropy of normal distributions with these variances; minus infinity where the variance is zero."""
    return 0.5 * (gamma.log() - math.log(THRESHOLD))


def keep(gamma: Tensor) -> Tensor:
    """Where the entropy is positive. Compares variances, which avoids the rounding of a logarithm.

    >>> import torch
    >>> keep(torch.tensor([0.0, 0.058, 0.059, 1.0]))
    tensor([False, False,  True,  True])
    """
    return gamma > THRESHOLD
