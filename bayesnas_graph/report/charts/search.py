"""Curves of a search: learning, open switches, and the size of the network."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from bayesnas_graph.report.charts.spec import (
    Part,
    by_run,
    finite,
    layer,
    legend_clicks,
    number_axis,
    rows_of,
    tips,
    view,
    x_counts,
    x_steps,
)
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.run import Numbers

Tables = Mapping[str, Sequence[Numbers]]  # the rows of each run

WINDOW = 9  # rows of a running median
TRAINED, HELD_OUT, TESTED = "training samples", "held-out samples", "test set"
_DOTTED: Part = {"type": "line", "point": True}
_STEPPED: Part = {"type": "line", "interpolate": "step-after", "point": True}


def loss(rows: Tables) -> Chart:
    """Loss on the training samples."""
    caption = "On the training samples, without the penalty; averaged over the steps of each log row."
    return Chart("loss", "Loss", caption, _by_step(rows, "loss", number_axis("loss", None), ".4g"))


def penalty(rows: Tables) -> Chart:
    """The penalty for open switches."""
    caption = "The term that open switches add to the loss. Each update changes its weights."
    spec = _by_step(rows, "penalty", number_axis("penalty", None, zero=True), ".4g")
    return Chart("penalty", "Penalty", caption, spec)


def has_penalty(rows: Tables) -> bool:
    """Return whether any run has a penalty other than zero."""
    return any(finite(row.get("penalty")) for run_rows in rows.values() for row in run_rows)


def accuracy(rows: Tables, updates: Tables, tests: Mapping[str, float | None]) -> Chart:
    """Accuracy on the training samples, on held-out samples at updates, and finally on the test set."""
    trained = [{**row, "on": TRAINED} for row in rows_of(rows, "step", "accuracy")]
    last = {row["run"]: row["step"] for row in trained}
    held_out = [
        {"run": run, "step": step, "accuracy": value, "on": HELD_OUT}
        for run, run_updates in updates.items()
        for step, value in _at_steps(run_updates, rows.get(run, ()))
    ]
    tested = [
        {"run": run, "step": last[run], "accuracy": finite(value), "on": TESTED}
        for run, value in tests.items()
        if value is not None and run in last
    ]
    y = {"y": number_axis("accuracy", None, format=".3~f")}
    rest = (x_steps(), y, by_run(rows, clickable=True), tips(rows, on="", step=",d", accuracy=".4f"))
    layers = [
        layer({"type": "line", "strokeWidth": 1.2}, *rest, where=("on", [TRAINED]), **legend_clicks(rows)),
        layer(_DOTTED, *rest, where=("on", [HELD_OUT])),
        layer(
            {"type": "point", "shape": "diamond", "size": 130, "filled": False, "strokeWidth": 2},
            *rest,
            where=("on", [TESTED]),
        ),
    ]
    caption = "Thin line: training samples. Dots: held-out samples, at updates. Diamond: test set, after the search."
    return Chart("accuracy", "Accuracy", caption, view([*trained, *held_out, *tested], layers))


def open_switches(rows: Tables) -> Chart:
    """The number of open switches."""
    y = number_axis("alive", None, format=",d", zero=True)
    spec = _by_step(rows, "alive", y, ",d", {"type": "line", "interpolate": "step-before"})
    return Chart("switches", "Open switches", "An update closes switches permanently.", spec)


def parameters(updates: Tables) -> Chart:
    """The parameters of the architecture at every update."""
    caption = "Parameters of the network that would be derived after each update."
    return Chart("weights", "Parameters", caption, _by_update(updates, "parameters", "~s", ",d"))


def multiply_adds(updates: Tables) -> Chart:
    """The multiply-adds of the architecture at every update."""
    caption = "Multiply-adds per sample of the network that would be derived after each update."
    return Chart("multiply-adds", "Multiply-adds", caption, _by_update(updates, "flops", "~s", ",d"))


def intensity(updates: Tables) -> Chart:
    """The strength of the penalty at every update."""
    caption = "The strength of the penalty at each update."
    return Chart("lambda", "Lambda", caption, _by_update(updates, "lambda", ".3~g", ".4g"))


def intensity_changes(updates: Tables) -> bool:
    """Return whether the strength of the penalty changes in any run."""
    return any(len({update.get("lambda") for update in run_updates}) > 1 for run_updates in updates.values())


def step_time(rows: Tables) -> Chart:
    """Seconds per step, with a running median."""
    values = rows_of(rows, "step", "seconds")
    for run in rows:
        run_values = [value for value in values if value["run"] == run]
        for value, smooth in zip(run_values, _medians([value["seconds"] for value in run_values]), strict=True):
            value["median"] = smooth
    tooltip = tips(rows, step=",d", seconds=".3~s", median=".3~s")
    y = number_axis("median", None, format="~s", unit="s", zero=True)
    raw: Part = {"type": "line", "strokeWidth": 1, "opacity": 0.3}
    layers = [
        layer(raw, x_steps(), {"y": {**y, "field": "seconds"}}, by_run(rows), tooltip),
        layer("line", x_steps(), {"y": y}, by_run(rows), tooltip),
        _hover(rows, {"y": y}, tooltip),
    ]
    caption = f"Time per step. Strong line: running median over {WINDOW} log rows; faint line: each row."
    return Chart("step-time", "Step time", caption, view(values, layers))


def _by_step(rows: Tables, field: str, y: Part, format: str, mark: str | Part = "line") -> Part:
    tooltip = tips(rows, **{"step": ",d", field: format})
    lines = layer(mark, x_steps(), {"y": y}, by_run(rows, clickable=True), tooltip, **legend_clicks(rows))
    return view(rows_of(rows, "step", field), [lines, _hover(rows, {"y": y}, tooltip)])


def _hover(rows: Tables, y: Part, tooltip: Part) -> Part:
    """Invisible points that make a thin line easier to hit."""
    return layer({"type": "point", "size": 90, "opacity": 0}, x_steps(), y, by_run(rows), tooltip)


def _by_update(updates: Tables, field: str, axis: str, format: str) -> Part:
    y = {"y": number_axis(field, None, format=axis, zero=True)}
    tooltip, colour = tips(updates, **{"iteration": ",d", field: format}), by_run(updates, clickable=True)
    marks = layer(_STEPPED, x_counts("iteration", "update"), y, colour, tooltip, **legend_clicks(updates))
    return view(rows_of(updates, "iteration", field), [marks])


def _at_steps(updates: Sequence[Numbers], rows: Sequence[Numbers]) -> Iterator[tuple[float, float | None]]:
    """The last step before each update, and the accuracy at the update."""
    known = rows_of({"": rows}, "step", "iteration")
    ends = sorted((row["iteration"], row["step"]) for row in known if row["iteration"] is not None)
    for update in updates:
        before = bisect_right(ends, (update["iteration"], float("inf")))
        if before:
            yield ends[before - 1][1], finite(update["accuracy"])


def _medians(values: Sequence[float | None]) -> Iterator[float | None]:
    for number in range(len(values)):
        window = values[max(0, number - WINDOW // 2) : number + WINDOW // 2 + 1]
        near = [value for value in window if value is not None]
        yield median(near) if near else None
