"""Sums and norms over groups, against plain arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.bayes.groups import group_norms, group_sums
from tests.bayes.numbers import DTYPES, exact, extreme, tensors


@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_of_extreme_values(dtype: torch.dtype) -> None:
    @given(data=st.data())
    def obeyed(data: st.DataObject) -> None:
        values = data.draw(tensors(extreme, 6, dtype))
        group = torch.tensor(data.draw(st.lists(st.integers(0, 3), min_size=6, max_size=6)))
        norms = group_norms(values, group, 4)
        for i, norm in enumerate(exact(norms)):
            members = [value for value, g in zip(exact(values), group.tolist(), strict=True) if g == i]
            assert float(norm) == pytest.approx(root(sum((value**2 for value in members), Fraction(0))), rel=1e-6)

    obeyed()


def root(value: Fraction) -> float:
    with localcontext() as context:
        context.prec = 50
        return float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def test_a_norm_of_one_is_exact() -> None:
    values = torch.tensor([-1e-30, 3e30, 0.1])
    assert group_norms(values, torch.arange(3), 3).tolist() == values.abs().tolist()


def test_groups_of_none() -> None:
    empty, none = torch.zeros(0), torch.zeros(0, dtype=torch.long)
    assert group_sums(empty, none, 2).tolist() == [0, 0]
    assert group_norms(empty, none, 2).tolist() == [0, 0]
    assert group_norms(torch.tensor([3.0, 4.0]), torch.tensor([0, 0]), 1).item() == pytest.approx(sqrt(25))
