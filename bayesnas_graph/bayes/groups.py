"""Sums and norms over groups, for any number of groups in a few calls.

`group[i]` is the number of the group that value `i` belongs to.
"""

from __future__ import annotations

import torch
from torch import Tensor


def group_sums(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """The sum of every group.

    >>> group_sums(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0, 1, 0]), 2)
    tensor([5., 2.])
    """
    return values.new_zeros(groups).index_add_(0, group, values)


def group_norms(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """The Euclidean norm of every group.

    Values are divided by the largest of their group before they are squared, to avoid underflow and overflow;
    the norm of a single value is exact.

    >>> group_norms(torch.tensor([3e-30, -7.0, 4e-30]), torch.tensor([0, 1, 0]), 2)
    tensor([5.0000e-30, 7.0000e+00])
    """
    sizes = values.abs()
    largest = values.new_zeros(groups).scatter_reduce_(0, group, sizes, "amax")
    divisor = torch.where(largest > 0, largest, 1)
    return largest * group_sums((sizes / divisor[group]).square(), group, groups).sqrt()
