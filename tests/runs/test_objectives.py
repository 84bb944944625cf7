"""What networks are trained for: their metrics, over any batches."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bayesnas_graph.runs.objectives import (
    ACCURACY,
    OBJECTIVES,
    Classification,
    MultiLabel,
    Objective,
    Regression,
    Segmentation,
    as_rows,
    metric_in,
    objective_of,
)
from bayesnas_graph.train.progress import TrainProgress
from tests.helpers import network

COUNT, OUTPUTS = 24, 3
VALUES = Regression(OUTPUTS)


def measured(objective: Objective, outputs: Tensor, targets: Tensor, batches: int = 1) -> float:
    parts = zip(outputs.chunk(batches), targets.chunk(batches), strict=True)
    terms = torch.stack([objective.terms(some, those) for some, those in parts]).sum(0) / len(targets)
    assert len(terms) == objective.size
    return objective.value(terms.tolist())


def r2(outputs: Tensor, targets: Tensor) -> float:
    """The definition, value by value."""
    outputs, targets = outputs.double(), targets.double()
    unexplained = (targets - outputs).square().sum(0) / (targets - targets.mean(0)).square().sum(0)
    return float((1 - unexplained).mean())


@pytest.fixture
def numbers() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    targets = torch.randn(COUNT, OUTPUTS, generator=generator) * torch.tensor([1.0, 3.0, 0.1]) + 2
    return targets + torch.randn(COUNT, OUTPUTS, generator=generator), targets


@pytest.mark.parametrize("batches", [1, 3, COUNT])
def test_r2_is_that_of_the_whole_set(numbers: tuple[Tensor, Tensor], batches: int) -> None:
    """Also of batches of one sample, whose values do not vary."""
    assert measured(VALUES, *numbers, batches) == pytest.approx(r2(*numbers), rel=1e-9)


def test_r2_of_special_predictions(numbers: tuple[Tensor, Tensor]) -> None:
    _, targets = numbers
    assert measured(VALUES, targets, targets) == pytest.approx(1)
    assert measured(VALUES, targets.mean(0).expand_as(targets), targets) == pytest.approx(0, abs=1e-6)
    assert measured(VALUES, -targets, targets) < 0
    same = torch.ones(4, 1)
    assert measured(Regression(1), same, same) == 1
    assert measured(Regression(1), 2 * same, same) == 0


@pytest.mark.parametrize("batches", [1, 3, COUNT])
def test_accuracy(batches: int) -> None:
    generator = torch.Generator().manual_seed(0)
    scores, labels = torch.randn(COUNT, 4, generator=generator), torch.randint(4, (COUNT,), generator=generator)
    right = float((scores.argmax(1) == labels).double().mean())
    assert measured(Classification(4), scores, labels, batches) == pytest.approx(right)
    assert Classification(4).value(Classification(4).mean_terms(scores, labels).tolist()) == pytest.approx(right)


@pytest.mark.parametrize("batches", [1, 3, COUNT])
def test_f1_counts_all_labels_of_all_samples(batches: int) -> None:
    generator = torch.Generator().manual_seed(0)
    outputs, targets = torch.randn(COUNT, 4, generator=generator), torch.rand(COUNT, 4, generator=generator) < 0.3
    said = outputs > 0
    precision, recall = (float((said & targets).sum() / part.sum()) for part in (said, targets))
    expected = 2 / (1 / precision + 1 / recall)
    assert measured(MultiLabel(4), outputs, targets, batches) == pytest.approx(expected)
    assert measured(MultiLabel(4), torch.where(targets, 1.0, -1.0), targets) == 1
    nothing = torch.zeros(2, 4, dtype=torch.bool)
    assert measured(MultiLabel(4), -torch.ones(2, 4), nothing) == 1
    assert measured(MultiLabel(4), torch.ones(2, 4), nothing) == 0


@pytest.mark.parametrize("batches", [1, 3, COUNT])
def test_mean_iou_is_that_of_the_whole_set(batches: int) -> None:
    """Classes that are neither predicted nor there do not count."""
    generator = torch.Generator().manual_seed(0)
    scores, targets = (
        torch.randn(COUNT, 4, 3, 3, generator=generator),
        torch.randint(3, (COUNT, 3, 3), generator=generator),
    )
    scores[:, 3] = -9
    said = scores.argmax(1)
    shares = [float(((said == k) & (targets == k)).sum() / ((said == k) | (targets == k)).sum()) for k in range(3)]
    assert measured(Segmentation(4), scores, targets.byte(), batches) == pytest.approx(sum(shares) / 3)


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_tables_are_read_back(kind: str) -> None:
    """A column has the name of the metric; rows in memory call every metric `accuracy`."""
    metric = next(one.metric for name, one in OBJECTIVES.items() if name == kind)
    columns = metric.columns(("loss", "accuracy", "test_accuracy"))
    assert metric_in(columns) == metric
    assert list(as_rows(dict.fromkeys(columns, 1.0), metric)) == ["loss", "accuracy", "test_accuracy"]
    assert metric_in(("loss",)) == ACCURACY


def test_the_objective_follows_from_the_type_of_the_output() -> None:
    def of(kind: str) -> Objective:
        return objective_of(network(f"network net : vector(4) -> {kind} {{ in x\n x -> out : linear(2) }}").graph())

    assert of("classes(2)") == of("vector(2)") == Classification(2)
    assert of("values(2)") == Regression(2)
    assert of("labels(2)") == MultiLabel(2)


def test_checkpoints_of_older_versions_have_an_accuracy() -> None:
    assert TrainProgress.from_plain({"step": 3, "loss": 1.5, "right": 2.0}).terms == (2.0,)
    progress = TrainProgress(step=3, loss=1.5, terms=(2.0, 1.0))
    assert TrainProgress.from_plain(progress.to_plain()) == progress
