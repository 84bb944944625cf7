"""What operations say their backward pass needs, compared with what torch saves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from bayesnas_graph.ir import ModuleCall, Op, Shape
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.ir.ops.build import build_function, build_module
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.runtime import use_channels_last
from tests.ir.ops.cases import CASES, PYTHON, Case, title

BATCH = 64  # of what a channel has only once, each sample has a small share


def _function(op: Op, shapes: tuple[Shape, ...]) -> Callable[..., Tensor]:
    call = op.torch(*shapes)
    if not isinstance(call, ModuleCall):
        return build_function(call, len(shapes))
    module = build_module(call).train()
    use_channels_last(module)
    return lambda *inputs: module(*inputs, *call.applied)


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _batch(shape: Shape) -> Tensor:
    """Images and sequences with their channels last in memory, as networks compute them."""
    x = torch.randn(BATCH, *shape).requires_grad_() * 1
    return x.movedim(1, -1).contiguous().movedim(-1, 1) if len(shape) > 1 else x


def _measured(op: Op, shapes: tuple[Shape, ...]) -> dict[str, Any]:
    """Whether inputs and the output are saved, the output is a view, and the other bytes per sample."""
    function, inputs = _function(op, shapes), [_batch(shape) for shape in shapes]
    found: dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> Tensor:
        if not isinstance(tensor, nn.Parameter):
            found[_storage(tensor)] = tensor
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        output = function(*inputs)
    own = {_storage(x) for x in inputs}
    others = [t for storage, t in found.items() if storage not in {*own, _storage(output)}]
    return {
        "inputs": bool(found.keys() & own) and _storage(output) not in own,
        "output": _storage(output) in found.keys() - own,
        "view": _storage(output) in own,
        "more": sum(t.untyped_storage().nbytes() for t in others) / BATCH,
    }


def _said(op: Op, shapes: tuple[Shape, ...]) -> dict[str, Any]:
    view = op.is_view(*shapes)
    saved = op.saved_bytes(4, *shapes)
    return {"inputs": op.saves_inputs and not view, "output": op.saves_output, "view": view, "more": saved}


def _usual(case: Case) -> bool:
    """All but tokens, and those that are tested below or copy their input only in an unusual form."""
    unusual = {"channel_shuffle(groups = 1) 4x6x5", "group_norm(groups = 2) 4x7"}
    return case[0].name not in {"attention", "python", "embedding"} and title(case) not in unusual


@pytest.mark.parametrize("case", [case for case in CASES if _usual(case)], ids=title)
def test_saved(case: Case) -> None:
    said, found = _said(*case), _measured(*case)
    extra = 0.5 if '"same"' in title(case) else 0  # an even window has results that are left out
    assert found.pop("more") == pytest.approx(said.pop("more"), rel=extra, abs=20)  # centres of kernels, and statistics
    assert found == said


def test_attention() -> None:
    op, shapes = PRIMITIVES["attention"](heads=4), ((32, 16),) * 3  # type: ignore[call-arg]
    assert _measured(op, shapes) == _said(op, shapes)


def test_python() -> None:
    """The product and what its sine is computed from, one and the same, and the convolution."""
    assert isinstance(PYTHON, PythonOp)
    shapes = ((2, 6, 5), (2, 6, 5))
    assert PYTHON.saves_inputs
    assert PYTHON.saved_bytes(4, *shapes) == 2 * 4 * 60
    assert PYTHON.saved_bytes(2, *shapes) == 2 * 2 * 60


def test_strided_pointwise_convolutions_save_the_pixels_they_read() -> None:
    op = PRIMITIVES["conv"](8, 1, 2)  # type: ignore[call-arg]
    assert (op.saves_inputs, op.saved_bytes(4, (4, 6, 6))) == (False, 4 * 4 * 9)
