"""A search as curves: how it learns, what it closes, and what that makes of the network."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from bayesnas_graph.report.charts.spec import (
    Part,
    Value,
    by_run,
    finite,
    layer,
    listening,
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

WINDOW = 9  # rows that a median is taken of
TRAINED, HELD_OUT, TESTED = "training samples", "held-out samples", "test set"  # what an accuracy is measured on
_DOTTED: Part = {"type": "line", "point": True}
_STEPPED: Part = {"type": "line", "interpolate": "step-after", "point": True}


def loss(rows: Tables) -> Chart:
    """The loss on samples that were trained on."""
    caption = "On the samples that it trains on, without the penalty; a mean over the steps of each line of the log."
    return Chart("loss", "Loss", caption, _by_step(rows, "loss", number_axis("loss", None), ".4g"))


def penalty(rows: Tables) -> Chart:
    """What is added to the loss for the switches that are open."""
    caption = "What the switches that are open add to the loss. It is weighed anew at every update."
    spec = _by_step(rows, "penalty", number_axis("penalty", None, zero=True), ".4g")
    return Chart("penalty", "Penalty", caption, spec)


def has_penalty(rows: Tables) -> bool:
    """Whether there ever was one."""
    return any(finite(row.get("penalty")) for some in rows.values() for row in some)


def accuracy(rows: Tables, updates: Tables, tests: Mapping[str, float | None]) -> Chart:
    """The accuracy on samples that were trained on, on held-out ones at updates, and on the test set in the end."""
    trained = [{**row, "on": TRAINED} for row in rows_of(rows, "step", "accuracy")]
    last = {row["run"]: row["step"] for row in trained}
    held_out = [
        {"run": run, "step": step, "accuracy": value, "on": HELD_OUT}
        for run, some in updates.items()
        for step, value in _at_steps(some, rows.get(run, ()))
    ]
    tested = [
        {"run": run, "step": last[run], "accuracy": finite(value), "on": TESTED}
        for run, value in tests.items()
        if value is not None and run in last
    ]
    y = {"y": number_axis("accuracy", None, format=".3~f")}
    rest = (x_steps(), y, by_run(rows, clickable=True), tips(rows, on="", step=",d", accuracy=".4f"))
    layers = [
        layer({"type": "line", "strokeWidth": 1.2}, *rest, where=("on", [TRAINED]), **listening(rows)),
        layer(_DOTTED, *rest, where=("on", [HELD_OUT])),
        layer(
            {"type": "point", "shape": "diamond", "size": 130, "filled": False, "strokeWidth": 2},
            *rest,
            where=("on", [TESTED]),
        ),
    ]
    caption = "Thin line: samples that it trains on. Dots: held-out samples, at updates. Diamond: test set, in the end."
    return Chart("accuracy", "Accuracy", caption, view([*trained, *held_out, *tested], layers))


def open_switches(rows: Tables) -> Chart:
    """How many switches are open."""
    y = number_axis("alive", None, format=",d", zero=True)
    spec = _by_step(rows, "alive", y, ",d", {"type": "line", "interpolate": "step-before"})
    return Chart("switches", "Open switches", "An update closes switches for good.", spec)


def weights(updates: Tables) -> Chart:
    """The weights of the architecture at every update."""
    caption = "Weights of the network that would be derived after an update."
    return Chart("weights", "Weights", caption, _by_update(updates, "parameters", "~s", ",d"))


def multiply_adds(updates: Tables) -> Chart:
    """Its multiply-adds."""
    caption = "Multiply-adds for a sample of the network that would be derived after an update."
    return Chart("multiply-adds", "Multiply-adds", caption, _by_update(updates, "flops", "~s", ",d"))


def intensity(updates: Tables) -> Chart:
    """The weight of the penalty."""
    caption = "The weight of the penalty at every update."
    return Chart("lambda", "Lambda", caption, _by_update(updates, "lambda", ".3~g", ".4g"))


def intensity_changes(updates: Tables) -> bool:
    """Whether a run has ever changed it."""
    return any(len({update.get("lambda") for update in some}) > 1 for some in updates.values())


def step_time(rows: Tables) -> Chart:
    """Seconds for a step: a running median, and faintly what it is of."""
    values = rows_of(rows, "step", "seconds")
    for run in rows:
        own = [value for value in values if value["run"] == run]
        for value, smooth in zip(own, _medians([value["seconds"] for value in own]), strict=True):
            value["median"] = smooth
    told = tips(rows, step=",d", seconds=".3~s", median=".3~s")
    y = number_axis("median", None, format="~s", unit="s", zero=True)
    raw: Part = {"type": "line", "strokeWidth": 1, "opacity": 0.3}
    layers = [
        layer(raw, x_steps(), {"y": {**y, "field": "seconds"}}, by_run(rows), told),
        layer("line", x_steps(), {"y": y}, by_run(rows), told),
        _hover(rows, {"y": y}, told),
    ]
    caption = f"Time of a step, as a running median over {WINDOW} lines of the log; faintly each of them."
    return Chart("step-time", "Step time", caption, view(values, layers))


def _by_step(rows: Tables, field: str, y: Part, format: str, mark: str | Part = "line") -> Part:
    told = tips(rows, **{"step": ",d", field: format})
    return view(
        rows_of(rows, "step", field),
        [
            layer(mark, x_steps(), {"y": y}, by_run(rows, clickable=True), told, **listening(rows)),
            _hover(rows, {"y": y}, told),
        ],
    )


def _hover(rows: Tables, y: Part, told: Part) -> Part:
    """Something to point at, for a line is thin."""
    return layer({"type": "point", "size": 90, "opacity": 0}, x_steps(), y, by_run(rows), told)


def _by_update(updates: Tables, field: str, axis: str, format: str) -> Part:
    y = {"y": number_axis(field, None, format=axis, zero=True)}
    told = tips(updates, **{"iteration": ",d", field: format})
    marks = layer(
        _STEPPED, x_counts("iteration", "update"), y, by_run(updates, clickable=True), told, **listening(updates)
    )
    return view(rows_of(updates, "iteration", field), [marks])


def _at_steps(updates: Sequence[Numbers], rows: Sequence[Numbers]) -> Iterator[tuple[float, float | None]]:
    """The accuracies at updates, each with the last step before it."""
    known = rows_of({"": rows}, "step", "iteration")
    ends = sorted((row["iteration"], row["step"]) for row in known if row["iteration"] is not None)
    for update in updates:
        before = bisect_right(ends, (update["iteration"], float("inf")))
        if before:
            yield ends[before - 1][1], finite(update["accuracy"])


def _medians(values: Sequence[float | None]) -> list[Value | float | None]:
    around = WINDOW // 2
    found: list[Value | float | None] = []
    for number in range(len(values)):
        near = [value for value in values[max(0, number - around) : number + around + 1] if value is not None]
        found.append(median(near) if near else None)
    return found
