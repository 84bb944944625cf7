"""A compression in charts: what is left of every layer, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from bayesnas_graph.report.charts.spec import (
    Part,
    Value,
    by_run,
    coloured,
    layer,
    log_axis,
    name_axis,
    number_axis,
    tips,
    view,
)
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.compression import Compression, Layer, Network

Quantity = Literal["parameters", "operations"]

BAR = 16  # pixels of one bar
LEFT, MAGNITUDE, WHOLE, LOOP = "left", "by magnitude", "whole", "after a loop"

Layers = Mapping[str, Sequence[Layer]]  # of each run


def kept_groups(runs: Layers) -> Chart:
    """How much of every layer is left, pattern by pattern."""
    values: list[Value] = [
        {
            "run": run,
            "layer": name,
            "pattern": pattern,
            "line": f"{name}, {pattern}",
            "share": share.kept / share.of if share.of else 0,
            "left": f"{share.kept:,} of {share.of:,}",
            "number": str(share),
        }
        for name, run, found in _layers(runs)
        for pattern, share in found.groups.items()
    ]
    patterns = list(dict.fromkeys(value["pattern"] for value in values))
    colour = by_run(runs) or coloured("pattern", patterns)
    told, y = tips(runs, layer="", pattern="", left=""), _lines(runs, values)
    x = {"x": number_axis("share", "left", format="%", domain=[0, 1])}
    edge = {"type": "quantitative"}
    bars = [
        layer({"type": "bar", "opacity": 0.12}, {"x": {"datum": 1, **edge}}, y, told),
        layer({"type": "bar", "opacity": 0.75}, x, y, colour, told),
        layer({"type": "text", "align": "left", "dx": 4}, {"x": {"datum": 0, **edge}}, y, _NUMBER, told),
    ]
    caption = "The groups of weights that are left in each layer, as a share of all that it had."
    return Chart("groups", "Groups left", caption, view(values, bars, BAR * len(values)))


_NUMBER: Part = {"text": {"field": "number"}}


def per_layer(runs: Layers, quantity: Quantity) -> Chart:
    """Weights or operations of every layer, before and after."""
    noun = "weights" if quantity == "parameters" else "operations"
    values: list[Value] = []
    for name, run, found in _layers(runs):
        share = found.parameters if quantity == "parameters" else found.operations
        values.append({"run": run, "layer": name, "line": name, "left": share.kept, "whole": share.of})
    told, y = tips(runs, layer="", left=",d", whole=",d"), _lines(runs, values)
    x = number_axis("whole", noun, format="~s", zero=True)
    bars = [
        layer({"type": "bar", "opacity": 0.25}, {"x": x}, y, told),
        layer("bar", {"x": {**x, "field": "left"}}, y, by_run(runs), told),
    ]
    caption = f"Faintly: the {noun} of each layer of the whole network. Above it: those that are left."
    return Chart(f"layer-{noun}", f"{noun.capitalize()} by layer", caption, view(values, bars, BAR * len(values)))


def error_curve(runs: Mapping[str, Compression], groups: Mapping[str, str] | None = None) -> Chart:
    """The error against the operations.

    Of one run it shows the way from the whole network through the loops to what is left. Of several it shows what each
    has come to, with a line through the means of those that `groups` puts together, as it does with runs that differ in
    their seeds alone.
    """
    caption = "Operations are multiplications and additions for a sample. The rival is as large, cut by magnitude."
    if len(runs) == 1:
        way = "The line goes from the whole network through the loops; what is left was trained once more in the end."
        return Chart("error", "Error and operations", f"{way} {caption}", _way(next(iter(runs.values()))))
    values = [value for run, found in runs.items() for value in _ends(run, found)]
    ends = [value for value in values if value["network"] != WHOLE]
    whole = [value["error"] for value in values if value["network"] == WHOLE]
    means = _means(ends, {run: (groups or {}).get(run, run) for run in runs})
    colour, told = _kinds(values), tips(runs, network="", operations=",d", error=".2f", weights=",d")
    layers = [
        layer({"type": "line", "strokeWidth": 1.6}, _AXES, colour, data={"values": list(means)}),
        layer("point", _AXES, colour, told),
    ]
    if whole:  # which lies far off to the right
        mean = {"values": [{"network": WHOLE, "error": fmean(whole)}]}
        told = tips([], network="", error=".2f")
        layers.append(layer({"type": "rule", "strokeDash": [5, 4]}, {"y": _AXES["y"]}, colour, told, data=mean))
    lines = "Each dot is a run; lines go through the means of runs that differ in their seeds alone."
    return Chart("error", "Error and operations", f"{lines} {caption}", view(ends, layers, 300))


_AXES: Part = {
    "x": log_axis("operations", "operations"),
    "y": number_axis("error", "test error, %", format=".3~f"),
}


def _way(found: Compression) -> Part:
    loops: list[Value] = [
        {
            "network": LOOP,
            "loop": loop.number,
            "operations": loop.operations,
            "error": loop.error,
            "weights": loop.parameters,
        }
        for loop in found.loops
        if loop.error is not None and loop.operations > 0
    ]
    values = [*loops, *_ends("", found)]
    colour, order = _kinds(values), {"order": {"field": "operations", "type": "quantitative", "sort": "descending"}}
    told = {"network": "", "operations": ",d", "error": ".2f", "weights": ",d"}
    layers = [
        layer({"type": "line", "strokeWidth": 1, "opacity": 0.5}, _AXES, order, where=("network", [WHOLE, LOOP, LEFT])),
        layer({"type": "point", "size": 30}, _AXES, colour, tips([], loop=",d", **told), where=("network", [LOOP])),
        layer(
            {"type": "point", "size": 100}, _AXES, colour, tips([], **told), where=("network", [WHOLE, LEFT, MAGNITUDE])
        ),
    ]
    return view(values, layers, 300)


def _ends(run: str, found: Compression) -> Iterator[Value]:
    networks: dict[str, Network | None] = {WHOLE: found.whole, LEFT: found.left, MAGNITUDE: found.rival}
    for name, network in networks.items():
        if network is not None and network.operations > 0:
            yield {
                "run": run,
                "network": name,
                "operations": network.operations,
                "error": network.error,
                "weights": network.parameters,
            }


def _means(values: Sequence[Value], groups: Mapping[str, str]) -> Iterator[Value]:
    """The middle of every group, for each kind of network."""
    clusters: dict[tuple[str, str], list[Value]] = {}
    for value in values:
        clusters.setdefault((value["network"], groups[value["run"]]), []).append(value)
    for (name, _), some in clusters.items():
        yield {"network": name, **{key: fmean(value[key] for value in some) for key in ("operations", "error")}}


def _kinds(values: Sequence[Value]) -> Part:
    """The colours of networks, which are the same in every chart; those that there are stand in the legend."""
    colour = coloured("network", _NETWORKS)["color"]
    present = [name for name in _NETWORKS if any(value["network"] == name for value in values)]
    return {"color": {**colour, "legend": {**colour["legend"], "values": present}}}


_NETWORKS = (LEFT, MAGNITUDE, WHOLE, LOOP)


def _layers(runs: Layers) -> Iterator[tuple[str, str, Layer]]:
    """Name, run and layer: those of one name after another, in the order of the network."""
    for name in dict.fromkeys(one.name for some in runs.values() for one in some):
        for run, some in runs.items():
            yield from ((name, run, one) for one in some if one.name == name)


def _lines(runs: Layers, values: Sequence[Value]) -> Part:
    """A bar for each value, in their order; those of several runs beside one another."""
    domain = list(dict.fromkeys(value["line"] for value in values))
    y = {"y": {"field": "line", "type": "nominal", "scale": {"domain": domain}, "axis": name_axis()}}
    offset = {"yOffset": {"field": "run", "type": "nominal", "scale": {"domain": list(runs)}}}
    return y | offset if len(runs) > 1 else y
