"""Training curves by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesnas_graph.report.charts.spec import (
    DASH_LEGEND,
    Part,
    Value,
    by_run,
    finite,
    layer,
    legend_clicks,
    number_axis,
    tips,
    view,
    x_counts,
)
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.run import Numbers

Tables = Mapping[str, Sequence[Numbers]]  # the rows of each run

TRAIN, TEST = "training samples", "test set"


def loss(rows: Tables) -> Chart:
    """Loss on the training samples and the test set."""
    y = number_axis("value", None)
    return Chart("loss", "Loss", _CAPTION, _curves(rows, ("loss", "test_loss"), y, ".4g"))


def accuracy(rows: Tables) -> Chart:
    """Accuracy on the training samples and the test set."""
    y = number_axis("value", None, format=".3~f")
    return Chart("accuracy", "Accuracy", _CAPTION, _curves(rows, ("accuracy", "test_accuracy"), y, ".4f"))


_CAPTION = "Solid: test set, after each epoch. Dashed: training samples, averaged over the epoch."


def _curves(rows: Tables, columns: tuple[str, str], y: Part, format: str) -> Part:
    values = [value for run, some in rows.items() for value in _values(run, some, columns)]
    domain: Part = {"domain": [TEST, TRAIN], "range": [[1, 0], [4, 3]]}
    dash = {"strokeDash": {"field": "on", "type": "nominal", "scale": domain, "legend": DASH_LEGEND}}
    rest = x_counts("epoch"), {"y": y}, by_run(rows, clickable=True), tips(rows, on="", epoch=",d", value=format)
    lines = layer({"type": "line", "strokeWidth": 1.6}, *rest, dash, **legend_clicks(rows))
    points = layer({"type": "point", "size": 30}, *rest, where=("on", [TEST]))
    return view(values, [lines, points])


def _values(run: str, rows: Sequence[Numbers], columns: tuple[str, str]) -> list[Value]:
    return [
        {"run": run, "epoch": row["epoch"], "on": on, "value": finite(row.get(column))}
        for on, column in zip((TRAIN, TEST), columns, strict=True)
        for row in rows
        if finite(row.get("epoch")) is not None
    ]
