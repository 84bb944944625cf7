"""What networks are trained for: one class per kind of output, with its loss and its metric. Loads no torch."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TypeVar

from bayesnas_graph.ir import Graph, OutputKind
from bayesnas_graph.runs.objectives.classification import Classification
from bayesnas_graph.runs.objectives.multi_label import MultiLabel
from bayesnas_graph.runs.objectives.objective import ROW, TEST_ROW, Metric, Objective
from bayesnas_graph.runs.objectives.regression import Regression
from bayesnas_graph.runs.objectives.segmentation import Segmentation

V = TypeVar("V")

ACCURACY = Classification.metric
OBJECTIVES: Mapping[OutputKind, type[Objective]] = {
    objective.kind: objective for objective in (Classification, Regression, MultiLabel, Segmentation)
}


def objective_of(graph: Graph) -> Objective:
    """The objective of a network: that of its first output."""
    return OBJECTIVES[graph.kinds[0]](graph[graph.outputs[0]].shape[0])


def metric_in(columns: Container[str]) -> Metric:
    """The metric of a table or a result, which one of its columns has the name of; accuracy if none has."""
    metrics = [objective.metric for objective in OBJECTIVES.values()]
    return next((metric for metric in metrics if metric.column in columns), ACCURACY)


def as_rows(content: Mapping[str, V], metric: Metric) -> dict[str, V]:
    """A row of a table, or a result, with the names that rows have in memory."""
    own = dict(zip(metric.columns((ROW, TEST_ROW)), (ROW, TEST_ROW), strict=True))
    return {own.get(name, name): value for name, value in content.items()}


__all__ = [
    "ACCURACY",
    "OBJECTIVES",
    "Classification",
    "Metric",
    "MultiLabel",
    "Objective",
    "Regression",
    "Segmentation",
    "as_rows",
    "metric_in",
    "objective_of",
]
