"""Charts of a single switch, shown by a click on it."""

from __future__ import annotations

from collections.abc import Sequence

from bayesnas_graph.report.charts.cursor import PARAMS, rules
from bayesnas_graph.report.charts.spec import Part, layer, x_counts
from bayesnas_graph.report.reasons import NO_ENTROPY, Evidence
from bayesnas_graph.report.section import Spec
from bayesnas_graph.report.symbols import symbols

PRUNED = NO_ENTROPY  # a switch is closed when its gamma is not above this
HEIGHT = 90
SOURCE: Part = {"name": "history", "values": []}


def switch_history(evidence: Evidence, updates: Sequence[int]) -> Spec:
    """What a switch is judged by, over the updates; drawn from the data source `history`, which a script fills.

    Its rows are the updates of a switch: `iteration`, `gamma`, `s`, `omega`, and `w` and `h` as lists with a number for
    each use, which `use` names; unknown numbers are null. If the strategy estimates the worth, there are also `worth`,
    its 95 % interval from `low` to `high`, and `bound`, what lambda asks for.
    """
    x = _x(updates)
    match evidence:
        case "worth":
            return _stack([_worth(x)])
        case "prior":
            return _stack([_gamma(x)])
        case _:
            return _stack([_single(x, "gamma", "strength")])


def history_caption(evidence: Evidence) -> str:
    """How to read the chart of what a switch is judged by."""
    symbol, meaning = next(iter(symbols(evidence).items()))
    more = {"worth": " Band: 95 %. Dashed: what lambda asks for.", "prior": " Dashed: where its entropy is zero."}
    return f"{symbol}: {meaning}.{more.get(evidence, '')}"


def switch_numbers(evidence: Evidence, updates: Sequence[int]) -> Spec:
    """The other numbers of a switch over the updates, from the same data source."""
    x, last = _x(updates, last=False), _x(updates)
    if evidence in ("factor", "strength"):
        return _stack([_by_use(last, "w", legend=True)])
    first = [_gamma(x)] if evidence == "worth" else []
    rest = [_single(x, "s"), _single(x, "omega"), _by_use(x, "w"), _by_use(last, "h", legend=True)]
    return _stack([*first, *rest])


def _stack(charts: list[Part]) -> Spec:
    resolve = {"scale": {"x": "shared", "color": "independent"}}
    return {"data": SOURCE, "params": PARAMS, "resolve": resolve, "vconcat": charts}


def _worth(x: Part) -> Part:
    band = {**_y("low", "worth"), "y2": {"field": "high"}}
    asked = {"y": {"field": "bound", "type": "quantitative"}}
    name = {"text": {"field": "label", "type": "nominal"}}
    first: list[Part] = [
        {"filter": "isValid(datum.bound)"},
        {"window": [{"op": "row_number", "as": "row"}]},
        {"filter": "datum.row == 1"},
        {"calculate": "'lambda asks for ' + format(datum.bound, '.2f')", "as": "label"},
    ]
    place: Part = {"type": "text", "style": "threshold-name", "align": "left", "baseline": "bottom", "dx": 4, "dy": -2}
    return _small(
        layer({"type": "area", "opacity": 0.2}, x, band),
        layer({"type": "line", "style": "threshold"}, x, asked, _tip("bound", "lambda asks for")),
        layer(place, x, asked, name, transform=first),
        layer(_LINE, x, _y("worth"), _tip("worth")),
        height=130,
    )


def _gamma(x: Part) -> Part:
    threshold: Part = {"y": {"datum": PRUNED, "type": "quantitative"}}
    name: Part = {"text": {"value": f"closed at {PRUNED:.4f} or less (entropy 0)"}, "x": {"value": 4}}
    place: Part = {"type": "text", "style": "threshold-name", "align": "left", "baseline": "bottom", "dy": -2}
    nothing: Part = {"values": [{}]}
    scale = {"type": "symlog", "constant": PRUNED, "domainMin": 0}
    ticks = [0, 0.1, 1, 10, 100, 1e4, 1e6, 1e9]
    y = {"y": {"field": "gamma", "type": "quantitative", "title": "gamma", "scale": scale, "axis": _axis(ticks)}}
    return _small(
        layer({"type": "rule", "style": "threshold"}, threshold, data=nothing),
        layer(place, threshold, name, data=nothing),
        layer(_LINE, x, y, _tip("gamma")),
    )


def _single(x: Part, name: str, title: str | None = None) -> Part:
    return _small(layer(_LINE, x, _y(name, title), _tip(name, title)))


def _by_use(x: Part, name: str, *, legend: bool = False) -> Part:
    """A line for each use of a switch."""
    uses: list[Part] = [{"flatten": [name, "use"]}]
    names = {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 150}
    use = {"color": {"field": "use", "type": "nominal", "sort": None, "legend": names if legend else None}}
    tooltip = {"tooltip": [*_tip(name)["tooltip"], {"field": "use", "type": "nominal"}]}
    return _small(layer(_LINE, x, _y(name), use, tooltip, transform=uses))


_LINE: Part = {"type": "line", "point": {"size": 28}, "strokeWidth": 1.5}


def _small(*layers: Part, height: int = HEIGHT) -> Part:
    return {"height": height, "layer": [*layers, *rules()]}


def _x(updates: Sequence[int], last: bool = True) -> Part:
    domain = [updates[0] - 0.5, updates[-1] + 0.5] if updates else [0.5, 1.5]
    x = {**x_counts("iteration", "update")["x"], "scale": {"nice": False, "zero": False, "domain": domain}}
    return {"x": x if last else {**x, "title": None, "axis": {**x["axis"], "labels": False}}}


def _y(name: str, title: str | None = None) -> Part:
    scale = {"zero": True}
    return {"y": {"field": name, "type": "quantitative", "title": title or name, "axis": _axis(), "scale": scale}}


def _axis(values: list[float] | None = None) -> Part:
    # `minExtent` aligns the titles of all charts.
    return {"format": ".3~g", "tickCount": 3, "minExtent": 44, **({"values": values} if values else {})}


def _tip(name: str, title: str | None = None) -> Part:
    return {
        "tooltip": [
            {"field": "iteration", "type": "quantitative", "title": "update", "format": "d"},
            {"field": name, "type": "quantitative", "title": title or name, "format": ".4g"},
        ]
    }
