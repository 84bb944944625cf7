"""A device that does not exist: it computes on the CPU, and records what would be slow or impossible on a GPU.

Its tensors claim to be on the device `meta` and hold their values in a tensor on the CPU, so a program has to move
values there and back as it does with a GPU. Within `stand_in`, these are recorded:

read     a value is read back, or the shape of a result depends on values: the program waits for the device
copied   a tensor is made from numbers of Python, or moved from the CPU
double   a tensor has double precision, although the device has none

Combining a tensor of the device with one on the CPU is an error, as in torch. So is anything outside `stand_in`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from unittest.mock import patch

import torch
from torch import Tensor
from torch.optim import optimizer
from torch.overrides import TorchFunctionMode
from torch.utils import _foreach_utils
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from bayesnas_graph.runtime import precision

DEVICE = torch.device("meta")
CPU = torch.device("cpu")

_CpuGenerator = torch.Generator
_aten = torch.ops.aten
_COPIES = (_aten._to_copy.default, _aten.copy_.default)
_INDEXING = (_aten.index.Tensor, _aten.index_put.default, _aten.index_put_.default, _aten._index_put_impl_.default)
_READS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class Held(torch.Tensor):
    """A tensor of the stand-in."""

    on_cpu: Tensor  # its values

    @staticmethod
    def __new__(cls, values: Tensor) -> Held:
        found: Held = torch.Tensor._make_wrapper_subclass(
            cls,
            values.size(),
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            device=DEVICE,
        )
        found.on_cpu = values
        return found

    def untyped_storage(self) -> torch.UntypedStorage:
        """The storage of the values: views are recognised by it."""
        return self.on_cpu.untyped_storage()

    @property
    def data(self) -> Tensor:
        """The tensor without its history."""
        return self.detach()

    @data.setter
    def data(self, other: Tensor) -> None:
        assert isinstance(other, Held), "tensors keep their device"
        torch.Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        self.on_cpu = other.on_cpu

    @classmethod
    def __torch_dispatch__(cls, func: Any, *_: Any) -> Any:
        raise RuntimeError(f"{func} outside `stand_in`")


@dataclass(frozen=True)
class Fault:
    """Something that a GPU would make slow or impossible."""

    kind: Literal["read", "copied", "double"]
    op: str
    line: str  # of this project


@dataclass
class Seen:
    """What happened on the stand-in within a block."""

    faults: list[Fault] = field(default_factory=list)
    forward: int = 0  # kernels that a GPU would launch
    backward: int = 0


class StandIn(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Runs all operations of the stand-in on the CPU, and records faults while it is watched."""

    def __init__(self, *, has_double: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.has_double = has_double
        self._seen: Seen | None = None

    @contextmanager
    def watched(self) -> Iterator[Seen]:
        """Record what happens within this block."""
        before, self._seen = self._seen, Seen()
        try:
            yield self._seen
        finally:
            self._seen = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        held = [tensor for tensor in tensors if isinstance(tensor, Held)]
        device = kwargs.get("device")
        is_held = bool(held) if device is None else torch.device(device) == DEVICE
        if func is _aten.copy_.default:
            is_held = isinstance(args[0], Held)
        if not held and not is_held:
            return func(*args, **kwargs)
        self._check(func, args, tensors, held, is_held=is_held)
        own_args, own_kwargs = tree_map_only(Held, lambda tensor: tensor.on_cpu, (args, kwargs))
        if device is not None:
            own_kwargs["device"] = CPU
        found = func(*own_args, **own_kwargs)
        self._count(func)
        if not is_held:
            return found
        found = args[0] if _is_in_place(func) else tree_map_only(Tensor, Held, found)
        if not self.has_double and any(leaf.dtype == torch.float64 for leaf in tree_leaves(found) if _is_tensor(leaf)):
            self._record("double", func)
        return found

    def _check(self, func: Any, args: Any, tensors: list[Tensor], held: list[Held], *, is_held: bool) -> None:
        others = [tensor for tensor in tensors if not isinstance(tensor, Held)]
        if any(other.device == DEVICE for other in others):
            raise RuntimeError(f"{func} of a tensor that torch has made on `meta`, without values")
        if func in _COPIES:
            if is_held and others:
                self._record("copied", func)
            elif not is_held:
                self._record("read", func)
        elif func in _INDEXING:
            indices = [index for index in args[1] if index is not None]
            if any(index.dtype in (torch.bool, torch.uint8) for index in indices):
                self._record("read", func)
            if any(not isinstance(index, Held) for index in indices):
                self._record("copied", func)
        elif held and any(other.ndim for other in others):
            raise RuntimeError(f"{func} of tensors on the stand-in and on the CPU")
        elif any(tag in func.tags for tag in _READS):
            self._record("read", func)

    def _record(self, kind: Literal["read", "copied", "double"], func: Any) -> None:
        if self._seen is not None:
            self._seen.faults.append(Fault(kind, str(func), _line()))

    def _count(self, func: Any) -> None:
        if self._seen is None or _launches_nothing(func):
            return
        if torch._C._current_graph_task_id() == -1:
            self._seen.forward += 1
        else:
            self._seen.backward += 1


class _Factories(TorchFunctionMode):
    """Makes tensors from numbers of Python on the CPU and then moves them: torch makes none of them on `meta`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in (torch.tensor, torch.as_tensor) and torch.device(kwargs.get("device") or CPU) == DEVICE:
            return func(*args, **{**kwargs, "device": CPU}).to(DEVICE)
        if func is torch.Tensor.new_tensor and isinstance(args[0], Held):
            return torch.tensor(args[1], dtype=kwargs.get("dtype", args[0].dtype)).to(DEVICE)
        if func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__) and isinstance(args[0], Held):
            return func(args[0], _moved(args[1]), *args[2:])
        if func is torch.Tensor.tolist and isinstance(args[0], Held):  # refused for subclasses
            return args[0].cpu().tolist()
        return func(*args, **kwargs)


class _Generator(torch.Generator):
    """A generator for the stand-in is one for the CPU."""

    def __new__(cls, device: torch.device | str = CPU) -> torch.Generator:  # type: ignore[misc]
        return _CpuGenerator(CPU if torch.device(device) == DEVICE else device)


@contextmanager
def _optimisers_of_a_gpu() -> Iterator[None]:
    """Let torch update all weights at once, as it does on a GPU."""
    types = [*optimizer._foreach_supported_types, Held]
    each, fused = (
        [*supported(), DEVICE.type]
        for supported in (
            _foreach_utils._get_foreach_kernels_supported_devices,
            _foreach_utils._get_fused_kernels_supported_devices,
        )
    )
    with ExitStack() as patches:
        for module in (_foreach_utils, optimizer):
            patches.enter_context(patch.object(module, "_foreach_supported_types", types))
            patches.enter_context(patch.object(module, "_get_foreach_kernels_supported_devices", lambda: list(each)))
            patches.enter_context(patch.object(module, "_get_fused_kernels_supported_devices", lambda: list(fused)))
        yield


@contextmanager
def stand_in(*, has_double: bool = True) -> Iterator[StandIn]:
    """Make the device available."""
    without = precision.WITHOUT_DOUBLE - {DEVICE.type} if has_double else precision.WITHOUT_DOUBLE | {DEVICE.type}
    with (
        patch.object(precision, "WITHOUT_DOUBLE", without),
        patch.object(torch, "Generator", _Generator),
        _optimisers_of_a_gpu(),
        StandIn(has_double=has_double) as mode,
        _Factories(),
    ):
        yield mode


def recorded(act: Callable[..., Any], mode: StandIn, all_seen: list[Seen]) -> Callable[..., Any]:
    """A function that does the same, and adds what happened on the stand-in during each call."""

    def acting(*args: Any) -> Any:
        with mode.watched() as seen:
            found = act(*args)
        all_seen.append(seen)
        return found

    return acting


def _moved(index: Any) -> Any:
    """An index with tensors instead of lists of numbers, which torch would move itself."""
    if isinstance(index, tuple):
        return tuple(map(_moved, index))
    return torch.tensor(index).to(DEVICE) if isinstance(index, list) else index


def _is_tensor(leaf: object) -> bool:
    return isinstance(leaf, Tensor)


def _is_in_place(func: Any) -> bool:
    return any(value.alias_info is not None and value.alias_info.is_write for value in func._schema.returns)


def _launches_nothing(func: Any) -> bool:
    """Whether an operation is a view, or only allocates memory."""
    aliases = [value.alias_info for value in func._schema.returns]
    is_view = any(alias is not None and not alias.is_write for alias in aliases)
    return is_view or "empty" in str(func) or func is _aten.detach.default


def _line() -> str:
    """The innermost line of this project that led here."""
    ours = [frame for frame in traceback.extract_stack() if "stand_in.py" not in frame.filename]
    ours = [frame for frame in ours if "bayesnas_graph" in frame.filename or "tests" in frame.filename]
    return f"{ours[-1].filename}:{ours[-1].lineno}: {ours[-1].line}" if ours else "torch"
