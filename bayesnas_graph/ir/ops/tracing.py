"""Multiply-adds and memory of Python code, counted by running it. Imports torch inside of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Products of two vectors, or of a matrix and a vector, which torch has no rule for: each number is used once.
_VECTOR_PRODUCTS = {"aten::mv": 0, "aten::addmv": 1, "aten::dot": 0, "aten::vdot": 0}  # the argument with all numbers

# Functions of torch that hide products which nobody counts.
_UNKNOWN = (
    *("aten::linalg_", "aten::_linalg_", "aten::cholesky", "aten::lu_solve", "aten::triangular_solve"),
    *("aten::_fft", "aten::_cdist", "aten::_euclidean_dist", "aten::_trilinear"),
    *("aten::_cudnn_rnn", "aten::mkldnn_rnn"),
)


def multiply_adds(run: Callable[[], object]) -> tuple[int, bool]:
    """Run Python code and count its multiply-adds: of convolutions and products of matrices, as for primitives.

    The second value is whether all were counted: code that torch knows nothing about, or that fails, may hide some.
    """
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry

    class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
        """Sees every function of torch that is called, taken apart into those that have a rule if possible."""

        total = 0  # multiplications and additions, two for each pair
        complete = True

        def __torch_dispatch__(
            self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            keywords, name = kwargs or {}, func._schema.name
            rule = flop_registry.get(func._overloadpacket)
            if rule is None and name not in _VECTOR_PRODUCTS:
                with self:
                    result = func.decompose(*args, **keywords)
                if result is not NotImplemented:
                    return result
            result = func(*args, **keywords)
            if rule is not None:
                self.total += rule(*args, **keywords, out_val=result)
            elif name in _VECTOR_PRODUCTS:
                self.total += 2 * prod(args[_VECTOR_PRODUCTS[name]].shape)
            elif func.namespace not in ("aten", "prim", "prims") or name.startswith(_UNKNOWN):
                self.complete = False
            return result

    with Counter() as counter:  # type: ignore[no-untyped-call]
        try:
            run()
        except Exception:  # whatever the user's code raises on these inputs
            counter.complete = False
    return counter.total // 2, counter.complete


def saved_by(run: Callable[[], object], known: Iterable[Tensor]) -> int:
    """Run Python code and count the bytes of memory that it saves for a backward pass, besides that of known tensors.

    What fails saves nothing.
    """
    from torch.autograd.graph import saved_tensors_hooks

    own = {tensor.untyped_storage()._cdata for tensor in known}
    found: dict[int, Tensor] = {}  # by storage; kept, so that none is used twice

    def pack(tensor: Tensor) -> Tensor:
        found[tensor.untyped_storage()._cdata] = tensor
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        try:
            result = run()  # kept, as in training
        except Exception:  # whatever the user's code raises on these inputs
            return 0
    del result
    return sum(tensor.untyped_storage().nbytes() for storage, tensor in found.items() if storage not in own)
