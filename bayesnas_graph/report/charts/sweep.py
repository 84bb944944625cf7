"""Charts of a sweep: size and accuracy by setting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bayesnas_graph.report.charts.spec import Part, Value, coloured, finite, layer, log_axis, number_axis, tips, view
from bayesnas_graph.report.section import Chart

LOG_RATIO = 8.0  # of the largest to the smallest value, from which an axis is logarithmic


@dataclass(frozen=True)
class Trial:
    """A finished run of a sweep."""

    settings: tuple[tuple[str, str], ...]  # the swept ones
    seed: int
    parameters: int
    flops: int
    accuracy: float


def swept_key(trials: Sequence[Trial]) -> str | None:
    """The setting on the x axis: the first with more than one value, or else the first."""
    keys = [key for key, _ in trials[0].settings] if trials else []
    several = [key for key in keys if len({dict(trial.settings)[key] for trial in trials}) > 1]
    return next(iter([*several, *keys]), None)


def parameters(trials: Sequence[Trial]) -> Chart:
    """Parameters of the derived network by the swept setting."""
    key = swept_key(trials) or "setting"
    y = number_axis("parameters", "parameters", format="~s", zero=True)
    caption = f"Each dot is a seed; the line connects the means for each value of {key}."
    return Chart("weights", f"Parameters by {key}", caption, _by_setting(trials, key, y))


def accuracy(trials: Sequence[Trial]) -> Chart:
    """Accuracy by the swept setting."""
    key = swept_key(trials) or "setting"
    y = number_axis("accuracy", "accuracy", format=".3~f")
    caption = "On the test set, with the weights of the search. Each dot is a seed; the line connects their means."
    return Chart("accuracy", f"Accuracy by {key}", caption, _by_setting(trials, key, y))


def trade_off(trials: Sequence[Trial]) -> Chart:
    """Accuracy by size."""
    values = _values(trials, swept_key(trials) or "setting")
    axes = {
        "x": number_axis("parameters", "parameters", format="~s"),
        "y": number_axis("accuracy", "accuracy", format=".3~f"),
    }
    colour, mean = _colour(values, "point"), {"type": "point", "shape": "cross", "size": 110}
    layers = [
        layer({"type": "point", "opacity": 0.7}, axes, colour, _tooltip("seed")),
        layer(mean, axes, colour, _tooltip(), data={"values": _means(values)}),
    ]
    caption = "Each dot is a run, each cross the mean over the seeds of a grid point."
    return Chart("trade", "Accuracy by parameters", caption, view(values, layers))


def _by_setting(trials: Sequence[Trial], key: str, y: Part) -> Part:
    """A line for each combination of the other swept settings."""
    values = _values(trials, key)
    encoding = {"x": _x(values, key), "y": y, **_colour(values, "others")}
    layers = [
        layer({"type": "line", "strokeWidth": 1.6}, encoding, data={"values": _means(values)}),
        layer({"type": "point", "opacity": 0.8}, encoding, _tooltip("seed")),
    ]
    return view(values, layers)


def _values(trials: Sequence[Trial], key: str) -> list[Value]:
    return [
        {
            "setting": _number(dict(trial.settings).get(key, "")),
            "others": _settings_text((name, value) for name, value in trial.settings if name != key),
            "point": _settings_text(trial.settings),
            "seed": trial.seed,
            "parameters": finite(trial.parameters),
            "multiply_adds": finite(trial.flops),
            "accuracy": finite(trial.accuracy),
        }
        for trial in trials
    ]


def _settings_text(settings: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings)


def _number(text: str) -> float | str:
    """The value of a setting, as a number if possible."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if finite(value) is None else value


def _means(values: Sequence[Value]) -> list[Value]:
    """The mean over the seeds of every grid point."""
    points: dict[str, list[Value]] = {}
    for value in values:
        points.setdefault(value["point"], []).append(value)
    return [
        {**seeds[0], "seed": None, **{name: _mean([value[name] for value in seeds]) for name in _MEASURED}}
        for seeds in points.values()
    ]


_MEASURED = ("parameters", "multiply_adds", "accuracy")


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return fmean(known) if known else None


def _x(values: Sequence[Value], key: str) -> Part:
    """An axis with ticks at the swept values: numeric, logarithmic if the range is wide, or nominal."""
    settings = list(dict.fromkeys(value["setting"] for value in values))
    numbers = [setting for setting in settings if isinstance(setting, float)]
    if len(numbers) < len(settings):
        names = list(map(str, settings))
        return {"field": "setting", "type": "nominal", "title": key, "sort": names, "axis": {"labelAngle": 0}}
    is_wide = bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) >= LOG_RATIO
    axis = log_axis("setting", key, format=".3~g") if is_wide else number_axis("setting", key)
    return {**axis, "axis": {**axis["axis"], "values": sorted(numbers), "labelOverlap": True}}


def _colour(values: Sequence[Value], field: str) -> Part:
    """Colours for the values of a field, if there is more than one."""
    names = list(dict.fromkeys(value[field] for value in values))
    return coloured(field, names) if len(names) > 1 else {}


def _tooltip(*more: str) -> Part:
    numbers = tips([], parameters=",.0f", multiply_adds=",.0f", accuracy=".4f")["tooltip"]
    return {"tooltip": [{"field": name, "type": "nominal", "title": name} for name in ("point", *more)] + numbers}
