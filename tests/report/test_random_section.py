"""What a report says about the comparison with random architectures."""

from __future__ import annotations

import pytest

from bayesnas_graph.report.random_section import random_section, verdict
from bayesnas_graph.runs.reading.comparison import Compared, Comparison


def comparison(*accuracies: float | None, failed: int | None = None) -> Comparison:
    networks = tuple(
        Compared(off=(f"s{i}",), parameters=100 + i, flops=10, loss=1.0, accuracy=accuracy, failed=i == failed)
        for i, accuracy in enumerate(accuracies)
    )
    return Comparison(wanted=max(1, len(networks) - 1), among="size", steps=20, networks=networks)


@pytest.mark.parametrize(
    ("accuracies", "said"),
    [
        (
            (0.931, 0.85, 0.913, 0.883),
            "The architecture that the search has found is more accurate than every random one: 93.1 %, against 88.2 % "
            "on average, 85.0 to 91.3 %, for 3 random architectures of about the same size.",
        ),
        (
            (0.9, 0.95, 0.8, 0.8),
            "The architecture that the search has found is above the average, but 1 of 3 random ones is at least as "
            "accurate: 90.0 %, against 85.0 % on average, 80.0 to 95.0 %, for 3 random architectures of about the same "
            "size.",
        ),
        (
            (0.9, 0.95, 0.9, 0.4),
            "The architecture that the search has found is above the average, but 2 of 3 random ones are at least as "
            "accurate: 90.0 %, against 75.0 % on average, 40.0 to 95.0 %, for 3 random architectures of about the same "
            "size.",
        ),
        (
            (0.5, 0.6),
            "The search did not find anything better than chance would: 50.0 %, against 60.0 %, for 1 random "
            "architecture of about the same size.",
        ),
        ((0.5, 0.5, 0.5), "The search did not find anything better than chance would: 50.0 %, against 50.0 %"),
        ((0.5, None, None), "There is nothing to compare yet: 1 of 3 architectures trained."),
        ((None, 0.5, None), "There is nothing to compare yet: 1 of 3 architectures trained."),
    ],
)
def test_verdicts(accuracies: tuple[float | None, ...], said: str) -> None:
    assert verdict(comparison(*accuracies)).startswith(said)


def test_the_line_of_the_terminal() -> None:
    found = comparison(0.931, 0.85, 0.913, 0.883)
    assert found.text() == (
        "found 93.1 %; 3 random architectures of about the same size: 88.2 % on average, 85.0 to 91.3 %; rank 1 of 4"
    )
    assert (
        comparison(0.5, 0.6).text() == "found 50.0 %; 1 random architecture of about the same size: 60.0 %; rank 2 of 2"
    )


def test_what_is_missing_is_said() -> None:
    assert not list(random_section(None))
    (section,) = random_section(comparison(0.9, 0.8, None, None, failed=3))
    assert "1 architecture is still to be trained." in section.body
    assert "1 architecture could not be trained, because the loss exploded." in section.body
    assert [chart.key for chart in section.charts] == ["random-accuracy"]
    (begun,) = random_section(comparison(0.9, None))
    assert not begun.charts
