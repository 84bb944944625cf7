"""Channels that operations report as removable because of zero weights, against what they compute."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
import torch
from torch import Tensor

from bayesnas_graph.ir import Mask, Op, Shape, ShapeError
from bayesnas_graph.ir.ops import PRIMITIVES, Conv, RescaleOp, SelectOp
from bayesnas_graph.ir.ops.build import build_module
from bayesnas_graph.runtime import Select
from tests.ir.ops.cases import BATCH, CASES, IMAGE, PYTHON, Case, built, title

NORM = PRIMITIVES["bn"]()


def picture(random: Random, width: int) -> Mask:
    """Random channels, often all or none."""
    share = random.choice((0, 0.5, 0.5, 1))
    return tuple(random.random() < share for _ in range(width))


def spoiled(op: Op, shapes: tuple[Shape, ...], random: Random) -> tuple[Callable[..., Tensor], dict[str, Tensor]]:
    """An operation with zeros in its weights, and its tensors."""
    function, module = built(op, shapes)
    tensors = {} if module is None else module.state_dict()
    for name, value in tensors.items():
        if value.is_floating_point() and name != "running_var":
            by_entry = value.view(-1) if value.ndim == 0 else value
            by_entry[torch.tensor(picture(random, len(by_entry)))] = 0
            if value.ndim > 1 and random.random() < 0.5:
                value[:, torch.tensor(picture(random, value.shape[1]))] = 0
    return function, tensors


def positive(shapes: tuple[Shape, ...]) -> list[Tensor]:
    """Inputs at which no activation is flat."""
    return [torch.rand(BATCH, *shape, dtype=torch.float64) + 0.1 for shape in shapes]


def there(values: Tensor) -> Mask:
    return tuple((values.transpose(0, 1).flatten(1).abs().amax(1) > 1e-9).tolist())


def masked(x: Tensor, some: Mask) -> Tensor:
    return torch.einsum("nc...,c->nc...", x, torch.tensor(some, dtype=x.dtype))


@pytest.mark.parametrize("case", CASES, ids=title)
@torch.no_grad()
def test_what_carries_is_what_can_be_other_than_zero(case: Case) -> None:
    op, shapes = case
    torch.manual_seed(0)
    for seed in range(6):
        random = Random(seed)
        function, tensors = spoiled(op, shapes, random)
        arriving = tuple(picture(random, shape[0]) for shape in shapes)
        inputs = [masked(x, some) for x, some in zip(positive(shapes), arriving, strict=True)]
        values = [function(*inputs), function(*(-x for x in inputs))]  # a ReLU shows only one of them
        found = tuple(any(pair) for pair in zip(*map(there, values), strict=True))
        assert op.nonzero_outputs(arriving, tensors, *shapes) == found


@pytest.mark.parametrize("case", CASES, ids=title)
@torch.no_grad()
def test_what_is_needed_is_what_makes_a_difference(case: Case) -> None:
    op, shapes = case
    torch.manual_seed(0)
    for seed in range(3):
        random = Random(seed)
        function, tensors = spoiled(op, shapes, random)
        output = picture(random, op.shape(*shapes)[0])
        needs = op.needed_inputs(output, tensors, *shapes)
        inputs = positive(shapes)
        before = function(*inputs)
        for number, shape in enumerate(shapes):
            found = []
            for channel in range(shape[0]):
                other = [x.clone() for x in inputs]
                other[number][:, channel] += 1 + 2 * torch.rand_like(other[number][:, channel])
                found.append(any(map(bool.__and__, there(function(*other) - before), output)))
            assert needs[number] == tuple(found)


def test_rules_are_not_always_the_same() -> None:
    """The tests above are not empty: zeros in weights affect both rules."""
    conv, norm = Conv(3, bias=True), NORM
    weight = torch.ones(3, 4, 3, 3)
    weight[0] = 0
    weight[:, 1] = 0
    tensors = {"weight": weight, "bias": torch.tensor([0.0, 0.0, 1.0])}
    assert conv.nonzero_outputs(((True,) * 4,), tensors, IMAGE) == (False, True, True)
    assert conv.nonzero_outputs(((False, True, False, False),), tensors, IMAGE) == (False, False, True)
    assert conv.needed_inputs((True, True, False), tensors, IMAGE) == ((True, False, True, True),)
    assert conv.needed_inputs((True, False, False), tensors, IMAGE) == ((False,) * 4,)
    values = torch.tensor([0.0, 0.0, 1.0, 1.0])
    tensors = {"weight": values, "bias": torch.tensor([0.0, 1.0, 0.0, 1.0])}
    tensors |= {"running_mean": torch.tensor([1.0, 1.0, 0.0, 1.0]), "running_var": torch.ones(4)}
    assert norm.nonzero_outputs(((True,) * 4,), tensors, IMAGE) == (False, True, True, True)
    assert norm.nonzero_outputs(((False,) * 4,), tensors, IMAGE)[:3] == (False, True, False)
    assert norm.needed_inputs((True,) * 4, tensors, IMAGE) == ((False, False, True, True),)
    assert RescaleOp().nonzero_outputs(((True,),), {"factor": torch.tensor(0.0)}, (1,)) == (False,)


def test_operations_of_the_user_carry_and_need_everything() -> None:
    shapes = ((2, 3, 3), (2, 3, 3))
    nothing: Mask = (False, False)
    assert PYTHON.nonzero_outputs((nothing, nothing), {}, *shapes) == (True, True)
    assert PYTHON.needed_inputs((False, True), {}, *shapes) == ((True, True), (True, True))
    assert PYTHON.needed_inputs(nothing, {}, *shapes) == (nothing, nothing)
    assert PYTHON.sliced({"conv.weight": torch.ones(2)}, ((True, True),) * 2, (True, True), *shapes).keys() == {
        "conv.weight"
    }


# ------------------------------------------------------------------------------------------- selections


def test_a_new_selection_is_spread_evenly() -> None:
    assert Select(10, 4).channels.tolist() == [0, 2, 5, 7]
    assert Select(3, 3).channels.tolist() == [0, 1, 2]


@pytest.mark.parametrize("shape", [IMAGE, (4,)])
def test_a_selection_has_the_channels_that_its_buffer_names(shape: Shape) -> None:
    module = build_module(SelectOp(2).torch(shape))
    module.load_state_dict({"channels": torch.tensor([1, 3])})
    x = torch.randn(BATCH, *shape)
    assert torch.equal(module(x), x[:, [1, 3]])
    assert not list(module.parameters())
    assert SelectOp(2).parameters(shape) == 0


def test_a_narrowed_selection_is_renumbered() -> None:
    op, tensors = SelectOp(3), {"channels": torch.tensor([0, 2, 4])}
    kept, output = (True, False, True, False, True), (False, True, True)
    assert op.sliced(tensors, (kept,), output, (5,))["channels"].tolist() == [1, 2]
    assert op.narrowed((kept,), output) == SelectOp(2)


def test_a_selection_of_more_than_there_is_is_refused() -> None:
    with pytest.raises(ShapeError, match="there are 4, and `width` is 5"):
        SelectOp(5).shape(IMAGE)
