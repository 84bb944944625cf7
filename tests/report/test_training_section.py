"""Training charts on a page."""

from __future__ import annotations

from bayesnas_graph.report.training_section import training_section
from tests.report.fake_runs import traced, trained


def test_loss_and_accuracy() -> None:
    assert [chart.key for chart in training_section({"a": trained().rows}).charts] == [
        "training-loss",
        "training-accuracy",
    ]
    assert training_section({"a": trained().rows}, key="own").charts[0].key == "own-loss"


def test_before_the_first_epoch() -> None:
    found = training_section({"a": traced("train").rows})
    assert found.charts == ()
    assert "No epoch has finished yet." in found.body
