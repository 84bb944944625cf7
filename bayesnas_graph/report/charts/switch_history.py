"""Charts of a single switch, shown by a click on it."""

from __future__ import annotations

from math import e, pi

from bayesnas_graph.report.charts.spec import Part, layer, x_counts
from bayesnas_graph.report.section import Spec

PRUNED = 1 / (2 * pi * e)  # a switch is closed when its gamma is not above this (`bayes/entropy.py`)
HEIGHT = 90


def switch_history(measure: str = "gamma") -> Spec:
    """Small charts over updates, drawn from the data source `history`, which a script fills.

    Its rows are the updates of a switch: `iteration`, `gamma`, `s`, `omega`, and `w` and `h` as lists with a number for
    each use; unknown numbers are null. Strategies other than the Bayesian one have only a strength and gates.
    """
    prior = [_gamma(), _single("s"), _single("omega"), _by_use("w"), _by_use("h", last=True)]
    other = [_single("gamma", measure), _by_use("w", last=True)]
    return {"data": {"name": "history", "values": []}, "vconcat": prior if measure == "gamma" else other}


def _gamma() -> Part:
    rule = {
        "data": {"values": [{"pruned": PRUNED}]},
        "mark": {"type": "rule", "strokeDash": [4, 3]},
        "encoding": {
            "y": {"field": "pruned", "type": "quantitative"},
            "tooltip": {"field": "pruned", "type": "quantitative", "format": ".4f", "title": "pruned at or below"},
        },
    }
    scale = {"type": "symlog", "constant": PRUNED, "domainMin": 0}
    ticks = [0, 0.1, 1, 10, 100, 1e4, 1e6, 1e9]
    y = {"y": {"field": "gamma", "type": "quantitative", "title": "gamma", "scale": scale, "axis": _axis(ticks)}}
    return _small(rule, layer(_LINE, _x(), y, _tip("gamma")))


def _single(name: str, title: str | None = None) -> Part:
    return _small(layer(_LINE, _x(), _y(name, title), _tip(name, title)))


def _by_use(name: str, last: bool = False) -> Part:
    """A line for each use of a switch."""
    uses: list[Part] = [{"flatten": [name]}, {"window": [{"op": "row_number", "as": "use"}], "groupby": ["iteration"]}]
    use = {"color": {"field": "use", "type": "nominal", "legend": None}}
    tooltip = {"tooltip": [*_tip(name)["tooltip"], {"field": "use", "type": "ordinal"}]}
    return _small(layer(_LINE, _x(last), _y(name), use, tooltip, transform=uses))


_LINE: Part = {"type": "line", "point": {"size": 28}, "strokeWidth": 1.5}


def _small(*layers: Part) -> Part:
    return {"height": HEIGHT, "layer": list(layers)}


def _x(last: bool = False) -> Part:
    x = x_counts("iteration", "update")
    return x if last else {"x": {**x["x"], "title": None, "axis": {**x["x"]["axis"], "labels": False}}}


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
