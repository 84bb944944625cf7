"""Weighted sums compute the same one by one and stacked, in all formats and precisions, and so do their gradients."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from bayesnas_graph.runtime import Watch, dropping, gated_sum, watched, weighted_sum

FORMATS = {"contiguous": torch.contiguous_format, "channels last": torch.channels_last}


def values(form: str, dtype: torch.dtype) -> list[Tensor]:
    """Three values; the last are parts of the channels of one tensor."""
    torch.manual_seed(0)
    first = torch.randn(4, 3, 5, 6, dtype=dtype).contiguous(memory_format=FORMATS[form])
    wide = torch.randn(4, 6, 5, 6, dtype=dtype).contiguous(memory_format=FORMATS[form])
    return [value.requires_grad_() for value in (first, wide[:, :3].detach(), wide[:, 3:].detach())]


def passed(terms: list[Tensor], gates: Tensor, probability: float) -> list[Tensor]:
    """The sum, its gradients, slopes and powers."""
    with watched(Watch()) as watch, dropping(probability, torch.Generator().manual_seed(0)):
        total = gated_sum(terms, gates)
    weights = torch.linspace(-1, 1, total.numel(), dtype=total.dtype).view_as(total)
    found = torch.autograd.grad((total * weights).sum(), [gates, *terms])
    slopes, powers = watch.slopes(gates), watch.powers(gates)
    assert slopes is not None
    assert powers is not None
    return [total, *found, slopes, powers]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("probability", [0.0, 0.4])
@pytest.mark.parametrize("gates", [3, 4])
@pytest.mark.parametrize("form", FORMATS)
def test_both_forms_are_equal(form: str, gates: int, probability: float, dtype: torch.dtype) -> None:
    exact = torch.float32 if dtype == torch.bfloat16 else dtype
    numbers = torch.linspace(0.5, 2, gates, dtype=exact, requires_grad=True)
    one_by_one = passed(values(form, dtype), numbers, probability)
    with patch.object(weighted_sum, "ONE_BY_ONE", frozenset()):
        stacked = passed(values(form, dtype), numbers, probability)
    rtol, atol = (2e-2, 3e-2) if dtype == torch.bfloat16 else (1e-10, 1e-10)
    for one, other in zip(one_by_one, stacked, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=rtol, atol=atol)
    assert stacked[0].is_contiguous(memory_format=FORMATS[form])


def test_vectors() -> None:
    terms, gates = [torch.rand(4, 3), torch.rand(4, 3)], torch.tensor([0.5, 2.0, 3.0])
    with patch.object(weighted_sum, "ONE_BY_ONE", frozenset()):
        torch.testing.assert_close(gated_sum(terms, gates), 3 * (0.5 * terms[0] + 2 * terms[1]))


@pytest.mark.parametrize("devices", [frozenset({"cpu"}), frozenset()], ids=["one by one", "stacked"])
def test_gradients_and_their_gradients(devices: frozenset[str]) -> None:
    terms = [value.detach()[:2, :1, :2, :2].requires_grad_() for value in values("contiguous", torch.float64)]
    gates = torch.linspace(0.5, 2, 4, dtype=torch.float64, requires_grad=True)
    with patch.object(weighted_sum, "ONE_BY_ONE", devices):
        assert torch.autograd.gradcheck(lambda gates, *terms: gated_sum(list(terms), gates), (gates, *terms))
        assert torch.autograd.gradgradcheck(lambda gates, *terms: gated_sum(list(terms), gates), (gates, *terms))
