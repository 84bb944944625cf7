"""The three forms of a loss's curvature, against autograd."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bayesnas_graph.bayes.losses import BinaryCrossEntropy, CrossEntropy, Loss, SquaredError

BATCH, OUTPUTS = 3, 4
CASES: list[tuple[Loss, Tensor]] = [
    (CrossEntropy(), torch.tensor([0, 3, 1])),
    (CrossEntropy(label_smoothing=0.1), torch.tensor([0, 3, 1])),
    (SquaredError(), torch.linspace(-1, 1, BATCH * OUTPUTS, dtype=torch.float64).view(BATCH, OUTPUTS)),
    (BinaryCrossEntropy(), torch.tensor([[0.0, 1, 1, 0]] * BATCH, dtype=torch.float64)),
    (BinaryCrossEntropy(), torch.tensor([[False, True, True, False]] * BATCH)),
]


def matrices(loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    """The second derivative of the loss of each sample."""
    rows = [
        torch.autograd.functional.hessian(  # type: ignore[no-untyped-call]
            lambda y, i=i: loss(y[None], targets[i : i + 1]), outputs[i]
        )
        for i in range(BATCH)
    ]
    return torch.stack(rows)


@pytest.mark.parametrize(("loss", "targets"), CASES)
def test_diagonal_and_columns(loss: Loss, targets: Tensor) -> None:
    outputs = torch.randn(BATCH, OUTPUTS, dtype=torch.float64)
    expected = matrices(loss, outputs, targets)
    torch.testing.assert_close(loss.diagonal(outputs), expected.diagonal(dim1=1, dim2=2))
    outer = sum(torch.einsum("ni,nj->nij", column, column) for column in loss.columns(outputs))
    torch.testing.assert_close(outer, expected)


@pytest.mark.parametrize(("loss", "targets"), CASES)
def test_random_columns(loss: Loss, targets: Tensor) -> None:
    outputs = torch.randn(BATCH, OUTPUTS, dtype=torch.float64)
    many = 40_000
    generator = torch.Generator().manual_seed(0)
    columns = torch.stack([loss.draw(outputs[i].expand(many, -1), generator) for i in range(BATCH)])
    outer = torch.einsum("nki,nkj->nij", columns, columns) / many
    torch.testing.assert_close(outer, matrices(loss, outputs, targets), rtol=0.05, atol=0.01)


@pytest.mark.parametrize(("loss", "targets"), CASES)
def test_a_loss_is_a_mean_over_samples(loss: Loss, targets: Tensor) -> None:
    outputs = torch.randn(BATCH, OUTPUTS, dtype=torch.float64)
    each = torch.stack([loss(outputs[i : i + 1], targets[i : i + 1]) for i in range(BATCH)])
    torch.testing.assert_close(loss(outputs, targets), each.mean())
