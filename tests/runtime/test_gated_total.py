"""A total of gated sums computes the same as the sums, and so do its gradients."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from bayesnas_graph.runtime import Watch, dropping, gated_sum, gated_total, repeated, watched, weighted_sum

DEVICES = [frozenset({"cpu"}), frozenset[str]()]


def values(sizes: list[int], samples: int = 3) -> list[list[Tensor]]:
    torch.manual_seed(0)
    shape = samples, 2, 3, 2
    return [[torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(size)] for size in sizes]


def separately(groups: list[list[Tensor]], gates: Tensor) -> Tensor:
    """The sum of separate gated sums."""
    extra = int(len(gates) > sum(map(len, groups)))
    parts = torch.split(gates, [len(group) + extra for group in groups])
    return torch.stack([gated_sum(group, part) for group, part in zip(groups, parts, strict=True)]).sum(0)


@pytest.mark.parametrize("devices", DEVICES, ids=["one by one", "stacked"])
@pytest.mark.parametrize("sizes", [[2, 2], [3, 1, 2], [2]], ids=str)
@pytest.mark.parametrize("zeros", [False, True], ids=["without zero gates", "with zero gates"])
@pytest.mark.parametrize("probability", [0.0, 0.4])
def test_it_is_the_sum_of_sums(probability: float, zeros: bool, sizes: list[int], devices: frozenset[str]) -> None:
    groups = values(sizes)
    gates = torch.linspace(0.5, 2, sum(sizes) + zeros * len(sizes), dtype=torch.float64, requires_grad=True)
    inputs = [gates, *(value for group in groups for value in group)]
    found = []
    for function in (gated_total, separately):
        numbers = torch.Generator().manual_seed(0)
        with dropping(probability, numbers), patch.object(weighted_sum, "ONE_BY_ONE", devices):
            total = function(groups, gates)
            found.append([total, *torch.autograd.grad(total.square().sum(), inputs)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("devices", DEVICES, ids=["one by one", "stacked"])
@pytest.mark.parametrize("sizes", [[1, 1], [2, 1]], ids=str)
def test_gradients_and_their_gradients(sizes: list[int], devices: frozenset[str]) -> None:
    gates = torch.linspace(0.5, 2, sum(sizes) + len(sizes), dtype=torch.float64, requires_grad=True)
    terms = [value for group in values(sizes, 1) for value in group]

    def total(gates: Tensor, *terms: Tensor) -> Tensor:
        return gated_total([list(terms[: sizes[0]]), list(terms[sizes[0] :])], gates)

    with patch.object(weighted_sum, "ONE_BY_ONE", devices):
        assert torch.autograd.gradcheck(total, (gates, *terms))
        assert torch.autograd.gradgradcheck(total, (gates, *terms))


def test_gates_are_watched() -> None:
    groups, gates = values([2, 1]), torch.linspace(0.5, 2, 5, dtype=torch.float64, requires_grad=True)
    found = []
    for function in (gated_total, separately):
        with watched(Watch()) as watch:
            function(groups, gates).square().sum().backward()  # type: ignore[no-untyped-call]
        slopes, powers = watch.slopes(gates), watch.powers(gates)
        assert slopes is not None
        assert powers is not None
        found.append((slopes, powers))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("form", [torch.contiguous_format, torch.channels_last], ids=str)
def test_repeated_parts(form: torch.memory_format) -> None:
    x = torch.randn(2, 4, 3, 5, dtype=torch.float64).contiguous(memory_format=form).requires_grad_()
    found = repeated(x, 3, 2)
    first, second = x.chunk(2, 1)
    expected = torch.cat([first] * 3 + [second] * 3, 1)
    assert torch.equal(found, expected)
    assert found.is_contiguous(memory_format=form)
    weights = torch.randn_like(found)
    one, other = (torch.autograd.grad((y * weights).sum(), x)[0] for y in (found, expected))
    torch.testing.assert_close(one, other)
