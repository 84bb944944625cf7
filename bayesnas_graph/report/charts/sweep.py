"""A sweep in charts: what a setting does to the size and the accuracy of what is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bayesnas_graph.report.charts.spec import Part, Value, coloured, finite, layer, log_axis, number_axis, tips, view
from bayesnas_graph.report.section import Chart

WIDE = 8.0  # the largest over the smallest, for an axis of logarithms


@dataclass(frozen=True)
class Trial:
    """A run of a sweep that is done."""

    settings: tuple[tuple[str, str], ...]  # those that the sweep goes over
    seed: int
    parameters: int
    flops: int
    accuracy: float


def swept_key(trials: Sequence[Trial]) -> str | None:
    """The setting along which the charts go: the first that has more than one value, or else the first."""
    keys = [key for key, _ in trials[0].settings] if trials else []
    several = [key for key in keys if len({dict(trial.settings)[key] for trial in trials}) > 1]
    return next(iter([*several, *keys]), None)


def weights(trials: Sequence[Trial]) -> Chart:
    """The swept setting against the weights of what is found."""
    key = swept_key(trials) or "setting"
    y = number_axis("weights", "weights", format="~s", zero=True)
    caption = f"Each dot is a seed; the line goes through the means of each value of {key}."
    return Chart("weights", f"Weights by {key}", caption, _against(trials, key, y))


def accuracy(trials: Sequence[Trial]) -> Chart:
    """The swept setting against the accuracy."""
    key = swept_key(trials) or "setting"
    y = number_axis("accuracy", "accuracy", format=".3~f")
    caption = "On the test set, with the weights of the search. Dots are seeds, the line goes through their means."
    return Chart("accuracy", f"Accuracy by {key}", caption, _against(trials, key, y))


def trade(trials: Sequence[Trial]) -> Chart:
    """The size against the accuracy."""
    values = _values(trials, swept_key(trials) or "setting")
    axes = {
        "x": number_axis("weights", "weights", format="~s"),
        "y": number_axis("accuracy", "accuracy", format=".3~f"),
    }
    colour = _colour(values, "point")
    layers = [
        layer({"type": "point", "opacity": 0.7}, axes, colour, _told("seed")),
        layer({"type": "point", "shape": "cross", "size": 110}, axes, colour, _told(), data={"values": _means(values)}),
    ]
    caption = "Each dot is a run, each cross the mean over the seeds of a point of the grid."
    return Chart("trade", "Accuracy and weights", caption, view(values, layers))


def _against(trials: Sequence[Trial], key: str, y: Part) -> Part:
    """A line for each combination of the other settings that are swept."""
    values = _values(trials, key)
    encoding = {"x": _x(values, key), "y": y, **_colour(values, "others")}
    layers = [
        layer({"type": "line", "strokeWidth": 1.6}, encoding, data={"values": _means(values)}),
        layer({"type": "point", "opacity": 0.8}, encoding, _told("seed")),
    ]
    return view(values, layers)


def _values(trials: Sequence[Trial], key: str) -> list[Value]:
    return [
        {
            "setting": _number(dict(trial.settings).get(key, "")),
            "others": _shown((name, value) for name, value in trial.settings if name != key),
            "point": _shown(trial.settings),
            "seed": trial.seed,
            "weights": finite(trial.parameters),
            "multiply_adds": finite(trial.flops),
            "accuracy": finite(trial.accuracy),
        }
        for trial in trials
    ]


def _shown(settings: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings)


def _number(text: str) -> float | str:
    """The value of a setting, as a number if it is one."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if finite(value) is None else value


def _means(values: Sequence[Value]) -> list[Value]:
    """The middle of the seeds of every point of the grid."""
    points: dict[str, list[Value]] = {}
    for value in values:
        points.setdefault(value["point"], []).append(value)
    return [
        {**some[0], "seed": None, **{name: _mean([one[name] for one in some]) for name in _MEASURED}}
        for some in points.values()
    ]


_MEASURED = ("weights", "multiply_adds", "accuracy")


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return fmean(known) if known else None


def _x(values: Sequence[Value], key: str) -> Part:
    """An axis of numbers, of their logarithms where they go over a wide range, or of whatever else there is.

    What was swept over is told there, and nothing in between.
    """
    settings = list(dict.fromkeys(value["setting"] for value in values))
    numbers = [setting for setting in settings if isinstance(setting, float)]
    if len(numbers) < len(settings):
        names = list(map(str, settings))
        return {"field": "setting", "type": "nominal", "title": key, "sort": names, "axis": {"labelAngle": 0}}
    is_wide = bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) >= WIDE
    axis = log_axis("setting", key, format=".3~g") if is_wide else number_axis("setting", key)
    return {**axis, "axis": {**axis["axis"], "values": sorted(numbers), "labelOverlap": True}}


def _colour(values: Sequence[Value], field: str) -> Part:
    """Colours for what is swept, if there is more than one of it."""
    names = list(dict.fromkeys(value[field] for value in values))
    return coloured(field, names) if len(names) > 1 else {}


def _told(*more: str) -> Part:
    told = tips([], weights=",.0f", multiply_adds=",.0f", accuracy=".4f")["tooltip"]
    return {"tooltip": [{"field": name, "type": "nominal", "title": name} for name in ("point", *more)] + told}
