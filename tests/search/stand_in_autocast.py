"""An imitation of autocast on the stand-in, for which torch has none.

The lists follow torch's rules for CUDA, for common operations, and are compared only with torch's autocast on the CPU,
in the cases of `test_stand_in_autocast.py`. Casts are recorded for the backward pass, and each weight is cast
once within a block. The backward pass itself is outside of autocast, as it is in torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

from tests.search.stand_in import DEVICE, Held

# fmt: off
LOWER = frozenset(
    {
        "__matmul__", "__rmatmul__", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul",
        "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "einsum",
        "linear", "matmul", "mm", "multi_dot", "mv", "scaled_dot_product_attention"
    }
)
SINGLE = frozenset(
    {
        "__pow__", "__rdiv__", "__rpow__", "__rtruediv__", "acos", "asin", "binary_cross_entropy_with_logits",
        "cdist", "cosh", "cosine_similarity", "cross_entropy", "cumprod", "cumsum", "dist", "erfinv", "exp",
        "expm1", "group_norm", "kl_div", "l1_loss", "layer_norm", "log", "log10", "log1p", "log2",
        "log_softmax", "mse_loss", "nll_loss", "norm", "normalize", "pow", "prod", "reciprocal", "renorm",
        "rsqrt", "sinh", "smooth_l1_loss", "softmax", "softmin", "softplus", "sum", "tan"
    }
)
WIDEST = frozenset(
    {
        "addcdiv", "addcmul", "atan2", "bilinear", "cat", "cross", "dot", "grid_sample", "index_put",
        "scatter_add", "stack", "tensordot"
    }
)
# fmt: on


class Autocast(TorchFunctionMode):
    """Within it, operations are cast."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.used = set[str]()  # operations that were computed in lower precision
        self._weights: dict[int, tuple[Tensor, Tensor]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        dtype = self._dtype(name, (args, kwargs))
        if dtype is not None:
            args, kwargs = tree_map_only(Held, lambda tensor: self._cast(tensor, dtype), (args, kwargs))
        return func(*args, **kwargs)

    def _dtype(self, name: str, given: Any) -> torch.dtype | None:
        tensors = [leaf for leaf in tree_leaves(given) if isinstance(leaf, Held) and _is_cast(leaf)]
        if not tensors:
            return None
        if name in LOWER:
            self.used.add(name)
            return self.dtype
        if name in SINGLE:
            return torch.float32
        if name in WIDEST:
            return torch.float32 if any(tensor.dtype == torch.float32 for tensor in tensors) else self.dtype
        return None

    def _cast(self, tensor: Held, dtype: torch.dtype) -> Tensor:
        if not _is_cast(tensor) or tensor.dtype == dtype:
            return tensor
        if not (tensor.is_leaf and tensor.requires_grad):
            return tensor.to(dtype)
        if id(tensor) not in self._weights:
            self._weights[id(tensor)] = tensor, tensor.to(dtype)
        return self._weights[id(tensor)][1]


def _is_cast(tensor: Tensor) -> bool:
    return tensor.is_floating_point() and tensor.dtype != torch.float64


@contextmanager
def autocasting() -> Iterator[list[Autocast]]:
    """Let `torch.autocast` work on the stand-in; all its uses are listed."""
    begun: list[Autocast] = []
    of_torch = torch.autocast

    def autocast(device_type: str, dtype: torch.dtype) -> AbstractContextManager[Any]:
        if device_type != DEVICE.type:
            return of_torch(device_type, dtype)
        begun.append(Autocast(dtype))
        return begun[-1]

    with patch.object(torch, "autocast", autocast):
        yield begun
