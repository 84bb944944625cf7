"""The three forms of a loss's curvature, against autograd."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bayesnas_graph.bayes.losses import BinaryCrossEntropy, CrossEntropy, Loss, PixelCrossEntropy, SquaredError

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


def test_pixels() -> None:
    """The curvature of a map of classes: its blocks are those of the pixels."""
    loss, targets = PixelCrossEntropy(), torch.randint(3, (BATCH, 2, 2)).byte()
    outputs = torch.randn(BATCH, 3, 2, 2, dtype=torch.float64)
    expected = torch.stack(
        [
            torch.autograd.functional.hessian(  # type: ignore[no-untyped-call]
                lambda y, i=i: loss(y.view(1, 3, 2, 2), targets[i : i + 1]), outputs[i].flatten()
            )
            for i in range(BATCH)
        ]
    )
    torch.testing.assert_close(loss.diagonal(outputs).flatten(1), expected.diagonal(dim1=1, dim2=2))
    columns = [column.flatten(1) for column in loss.columns(outputs)]
    torch.testing.assert_close(sum(torch.einsum("ni,nj->nij", one, one) for one in columns), expected)
    generator, draws = torch.Generator().manual_seed(0), 4000
    many = torch.stack([loss.draw(outputs, generator).flatten(1) for _ in range(draws)])
    torch.testing.assert_close(torch.einsum("sni,snj->nij", many, many) / draws, expected, atol=0.02, rtol=0.0)
