"""Modules and functions from torch calls."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bayesnas_graph.ir import Expression, ModuleCall

if TYPE_CHECKING:
    from torch import Tensor, nn

_PACKAGES = {"nn": "torch.nn", "runtime": "bayesnas_graph.runtime"}


def build_module(call: ModuleCall) -> nn.Module:
    """The module that a call constructs."""
    constructor: Any = importlib.import_module(_PACKAGES.get(call.package, call.package))
    for part in call.target.split("."):
        constructor = getattr(constructor, part)
    keywords = {number.role: number.value for number in call.kwargs}
    module: nn.Module = constructor(*(number.value for number in call.args), **keywords)
    return module


def build_function(expression: Expression, inputs: int) -> Callable[..., Tensor]:
    """The function of `inputs` tensors that an expression computes.

    The template comes from the class of a primitive, never from a `.nas` file.
    """
    import torch
    from torch.nn import functional

    from bayesnas_graph import runtime

    names = [f"x{i}" for i in range(inputs)]
    code = f"lambda {', '.join(names)}: {expression.source(names)}"
    helper = {expression.helper: getattr(runtime, expression.helper)} if expression.helper else {}
    function: Callable[..., Tensor] = eval(code, {"torch": torch, "F": functional, **helper})
    return function
