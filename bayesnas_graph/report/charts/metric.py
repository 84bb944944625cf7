"""Charts of accuracy, as charts of another metric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.objectives import ACCURACY, Metric


def of_metric(chart: Chart, metric: Metric) -> Chart:
    """The same chart with the name of another metric in its titles; fields of its data are still called `accuracy`."""
    if metric == ACCURACY:
        return chart
    title, caption = (_named(text, metric) for text in (chart.title, chart.caption))
    return replace(chart, title=title, caption=caption, spec=_retitled(chart.spec, metric))


def _named(text: str, metric: Metric) -> str:
    return text.replace("Accuracy", metric.name[0].upper() + metric.name[1:])


def _retitled(part: Any, metric: Metric) -> Any:
    if isinstance(part, dict):
        return {
            key: metric.name if key == "title" and value == "accuracy" else _retitled(value, metric)
            for key, value in part.items()
        }
    return [_retitled(value, metric) for value in part] if isinstance(part, list) else part
