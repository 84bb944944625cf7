"""Operations that the user wrote in Python: imported only after the user allowed it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import ModuleCall, Op, Shape, ShapeError, Value

if TYPE_CHECKING:
    from torch import nn

Plain = int | float | bool


@dataclass(frozen=True)
class PythonOp(Op):
    """A class of the user's, `package.module:Class`, called with the arguments of the language as keywords.

    Shapes and weights are found by running it on the meta device, which computes no values.
    """

    name: ClassVar[str] = "python"
    inputs: ClassVar[int | None] = None
    pure: ClassVar[bool] = False

    called: str
    target: str
    values: tuple[tuple[str, Plain], ...] = ()

    @property
    def label(self) -> str:
        return self.called

    def shape(self, *inputs: Shape) -> Shape:
        return _trace(self, inputs)[0]

    def parameters(self, *inputs: Shape) -> int:
        return _trace(self, inputs)[1]

    def torch(self, *inputs: Shape) -> ModuleCall:
        module, name = _parts(self)
        return ModuleCall(name, (), self.values, module)

    def settings(self) -> dict[str, Value]:
        return dict(self.values)


def _parts(op: PythonOp) -> tuple[str, str]:
    """The module and the class that an operation names; only names get through, no other Python."""
    module, _, name = op.target.partition(":")
    if not all(part.isidentifier() and not iskeyword(part) for part in (*module.split("."), *name.split("."))):
        raise ShapeError(f"`{op.target}` is not of the form `package.module:Class`")
    return module, name


def _load(op: PythonOp) -> type[nn.Module]:
    module_name, class_name = _parts(op)
    try:
        found: Any = importlib.import_module(module_name)
        for part in class_name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise ShapeError(f"`{op.target}` cannot be imported: {error} (is its folder on PYTHONPATH?)") from error
    cls: type[nn.Module] = found
    return cls


@cache
def _trace(op: PythonOp, inputs: tuple[Shape, ...]) -> tuple[Shape, int]:
    import torch

    cls = _load(op)
    try:
        with torch.device("meta"):
            module = cls(**dict(op.values)).eval()
            output = module(*(torch.empty(2, *shape) for shape in inputs))
    except Exception as error:  # whatever the user's code raises is told as a diagnostic
        raise ShapeError(f"`{op.target}` failed on the meta device: {error}") from error
    if not isinstance(output, torch.Tensor) or output.ndim < 2 or output.shape[0] != 2:
        raise ShapeError(f"`{op.target}` did not return one tensor with the batch first")
    return tuple(output.shape[1:]), sum(p.numel() for p in module.parameters())
