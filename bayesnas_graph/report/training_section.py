"""Charts of training runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesnas_graph.report.charts import training
from bayesnas_graph.report.charts.metric import of_metric
from bayesnas_graph.report.section import Section, build_section
from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.reading.run import Numbers


def training_section(
    rows: Mapping[str, Sequence[Numbers]],
    key: str = "training",
    title: str = "Training curves",
    metric: Metric = ACCURACY,
) -> Section:
    """Loss and metric by epoch, for one or more runs."""
    notes = [] if any(rows.values()) else ["No epoch has finished yet."]
    charts = [training.loss(rows), of_metric(training.accuracy(rows), metric)]
    return build_section(key, title, notes=notes, charts=charts)
