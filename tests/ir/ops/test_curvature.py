"""Curvature rules against Jacobians and second derivatives from autograd, in float64."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor
from torch.func import grad
from torch.testing import assert_close

from bayesnas_graph.ir import ModuleCall, Op, Shape
from bayesnas_graph.ir.ops import PRIMITIVES, Choice, Conv, Embedding, Input, Maybe, Zero
from bayesnas_graph.ir.ops.activation import Elementwise
from bayesnas_graph.ir.ops.base import both
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.padding import Pair
from bayesnas_graph.ir.ops.python import PROBES, PythonOp
from bayesnas_graph.ir.ops.spatial import Pool
from tests.ir.ops.cases import CASES, IMAGE, PYTHON, Case, built, local, title, values, with_rule
from tests.ir.ops.test_primitives import numbers_of

ALL: list[Case] = [*CASES, (PYTHON, ((2, 3, 3), (2, 3, 3)))]


def truth(op: Op, here: Local) -> tuple[list[Tensor], dict[str, Tensor]]:
    """`H_o (dy_o / dx)^2` summed over outputs for each input, and its mean over samples for each parameter."""
    shapes = tuple(tuple(x.shape[1:]) for x in here.inputs)
    function, call = here.module or built(op, shapes)[0], op.torch(*shapes)
    applied = call.applied if isinstance(call, ModuleCall) else ()
    parameters: dict[str, Tensor] = {} if here.module is None else dict(here.module.named_parameters())
    samples = []
    for n, hessian in enumerate(here.hessian):
        inputs = [x[n : n + 1].clone(memory_format=torch.contiguous_format).requires_grad_() for x in here.inputs]
        with torch.enable_grad():
            output = function(*inputs, *applied)
        of = [*inputs, *parameters.values()]
        each = torch.eye(output.numel(), dtype=output.dtype).reshape(-1, *output.shape)
        rows: tuple[Tensor | None, ...] = torch.autograd.grad(
            output, of, each, is_grads_batched=True, allow_unused=True
        )
        samples.append(
            [
                torch.zeros_like(x) if row is None else torch.tensordot(hessian.flatten(), row.square(), 1)
                for x, row in zip(of, rows, strict=True)
            ]
        )
    found, count = list(zip(*samples, strict=True)), len(here.inputs)
    means = [torch.stack(felt).mean(0) for felt in found[count:]]
    return [torch.cat(handed) for handed in found[:count]], dict(zip(parameters, means, strict=True))


@torch.no_grad()
def check(op: Op, here: Local) -> None:
    handed, felt = op.curvature(here), op.weight_curvature(here)
    of_inputs, of_parameters = truth(op, here)
    assert_close(list(handed), of_inputs)
    assert_close(felt, of_parameters)


@pytest.mark.parametrize("case", ALL, ids=title)
def test_a_diagonal_is_handed_on_through_squared_derivatives(case: Case) -> None:
    op, shapes = case
    here = local(op, *values(*shapes))
    if isinstance(op, Elementwise):
        here = replace(here, gradient=torch.zeros_like(here.gradient))  # the second derivative has its own test
    check(op, here)


@given(
    sides=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    k=numbers_of(1, 4),
    stride=numbers_of(1, 4),
    dilation=numbers_of(1, 3),
    padding=numbers_of(0, 3),
    groups=st.sampled_from([1, 2]),
)
def test_convolutions_of_any_size(
    sides: tuple[int, int], k: Pair, stride: Pair, dilation: Pair, padding: Pair, groups: int
) -> None:
    op = Conv(2, k, stride, groups, dilation, padding, bias=True)
    windows = zip(sides, op.window.reach, both(padding), strict=True)
    assume(all(size + 2 * around >= reach for size, reach, around in windows))
    check(op, local(op, *values((2, *sides))))


@pytest.mark.parametrize("name", [name for name, cls in PRIMITIVES.items() if issubclass(cls, Elementwise)])
def test_activations_against_second_derivatives(name: str) -> None:
    """A loss with the required gradient and Hessian at the output, differentiated twice."""
    op = PRIMITIVES[name]()
    here = local(op, torch.linspace(-9, 9, 181, dtype=torch.float64)[:, None] + 0.013)
    function, _ = built(op, ((1,),))

    def loss(x: Tensor) -> Tensor:
        change = function(x) - here.output
        return (here.gradient * change + here.hessian * change.square() / 2).sum()

    slope = grad(loss)  # each value has its own term of the loss, so that rows of the Hessian sum to its diagonal
    assert_close(op.curvature(here)[0], grad(lambda x: slope(x).sum())(here.inputs[0]))


@pytest.mark.parametrize("name", ["max_pool", "global_max_pool"])
def test_the_largest_value_gets_all_even_among_equals(name: str) -> None:
    op = PRIMITIVES[name]()
    if isinstance(op, Pool):
        op = replace(op, k=2, stride=2, padding=0)
    here = local(op, torch.zeros(1, 1, 2, 2, dtype=torch.float64))
    (handed,) = op.curvature(here)
    assert_close(handed.sum(), here.hessian.sum())
    assert handed.count_nonzero() == 1


@pytest.mark.parametrize("name", ["conv", "avg_pool", "max_pool", "global_max_pool", "bn", "layer_norm", "flatten"])
def test_images_with_channels_last(name: str) -> None:
    op = PRIMITIVES[name]()
    (x,) = values(IMAGE)
    check(op, local(op, x.contiguous(memory_format=torch.channels_last)))


def test_rules_leave_nothing_to_differentiate() -> None:
    """They are called with gradients disabled; a rule that needs autograd enables it only locally."""
    here = local(PYTHON, *values((2, 3, 3), (2, 3, 3)))
    with torch.no_grad():
        found = [*PYTHON.curvature(here), *PYTHON.weight_curvature(here).values()]
    assert not any(h.requires_grad for h in found)
    assert all(p.grad is None for p in here.module.parameters())


class Constant(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def test_a_constant_has_no_curvature() -> None:
    op = PythonOp("constant", f"{__name__}:Constant")
    here = local(op, *values(IMAGE))
    assert not op.curvature(here)[0].any()
    assert op.weight_curvature(here) == {}


def test_large_outputs_of_the_user_are_probed() -> None:
    """The estimate is unbiased, so its error averaged over many entries is small; and it is repeatable."""
    shape = (2, 10, 10)
    here = local(PYTHON, *values(shape, shape))
    here = replace(here, hessian=here.hessian.abs())
    assert here.output[0].numel() > PROBES
    of_inputs, of_parameters = truth(PYTHON, here)
    handed = PYTHON.curvature(here)
    for h, expected in zip(handed, of_inputs, strict=True):
        assert abs(h.sum() / expected.sum() - 1).item() < 0.1
        assert ((h - expected).norm() / expected.norm()).item() < 3 / PROBES**0.5
    for name, h in PYTHON.weight_curvature(here).items():
        assert ((h - of_parameters[name]).norm() <= 3 / PROBES**0.5 * of_parameters[name].norm()).item()
    assert_close(PYTHON.curvature(here), handed, rtol=0, atol=0)


# ------------------------------------------------------------------------- no rule is missing


def test_every_operation_has_rules() -> None:
    known: list[type[Op]] = [*PRIMITIVES.values(), Input, Choice, Maybe, Zero, PythonOp]
    assert with_rule("curvature") >= set(known)
    assert with_rule("weight_curvature") >= {cls for cls in known if not cls.pure}
    empty = torch.zeros(2, 3)
    assert Input().curvature(Local((), empty, empty, empty)) == ()


def test_every_rule_has_a_case() -> None:
    """Including inherited rules: a class that computes something else must not inherit its rule."""
    assert with_rule("curvature") - {type(op) for op, _ in ALL} == {Input, Embedding}, "tested by themselves"


@dataclass(frozen=True)
class Unfinished(Op):
    name: ClassVar[str] = "unfinished"
    pure: ClassVar[bool] = False

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]


def test_a_missing_rule_fails_loudly() -> None:
    empty = torch.zeros(2, 3)
    here = Local((empty,), empty, empty, empty)
    with pytest.raises(NotImplementedError, match=r"`unfinished` has no curvature rule$"):
        Unfinished().curvature(here)
    with pytest.raises(NotImplementedError, match="`unfinished` has no curvature rule for its parameters"):
        Unfinished().weight_curvature(here)
