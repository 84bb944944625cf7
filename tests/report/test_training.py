"""The charts of training runs on a page."""

from __future__ import annotations

from bayesnas_graph.report.training import section
from tests.report.fake_runs import traced, trained


def test_loss_and_accuracy() -> None:
    assert [chart.key for chart in section({"a": trained()}).charts] == ["training-loss", "training-accuracy"]
    assert section({"a": trained()}, key="own").charts[0].key == "own-loss"


def test_before_the_first_epoch() -> None:
    found = section({"a": traced("train")})
    assert found.charts == ()
    assert "No epoch has ended yet." in found.body
