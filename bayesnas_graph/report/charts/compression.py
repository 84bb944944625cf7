"""Charts of compression runs: the remains of each layer, and the error."""

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
from bayesnas_graph.runs.layers import PrunedLayer
from bayesnas_graph.runs.reading.compression import CompressionRecord, LoopRecord, NetworkRecord

Quantity = Literal["parameters", "operations"]

BAR = 16  # pixels
LEFT, MAGNITUDE, WHOLE, LOOP = "left", "by magnitude", "whole", "after a loop"

Layers = Mapping[str, Sequence[PrunedLayer]]  # by run


def kept_groups(runs: Layers) -> Chart:
    """The share of groups left in each layer, by pattern."""
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
        for name, run, pruned in _layers(runs)
        for pattern, share in pruned.groups.items()
    ]
    patterns = list(dict.fromkeys(value["pattern"] for value in values))
    colour = by_run(runs) or coloured("pattern", patterns)
    tooltip, y = tips(runs, layer="", pattern="", left=""), _lines(runs, values)
    x = {"x": number_axis("share", "left", format="%", domain=[0, 1])}
    edge = {"type": "quantitative"}
    bars = [
        layer({"type": "bar", "opacity": 0.12}, {"x": {"datum": 1, **edge}}, y, tooltip),
        layer({"type": "bar", "opacity": 0.75}, x, y, colour, tooltip),
        layer({"type": "text", "align": "left", "dx": 4}, {"x": {"datum": 0, **edge}}, y, _NUMBER, tooltip),
    ]
    caption = "The share of weight groups left in each layer."
    return Chart("groups", "Groups left", caption, view(values, bars, BAR * len(values)))


_NUMBER: Part = {"text": {"field": "number"}}


def per_layer(runs: Layers, quantity: Quantity) -> Chart:
    """Parameters or operations of each layer, before and after."""
    values: list[Value] = []
    for name, run, pruned in _layers(runs):
        share = pruned.parameters if quantity == "parameters" else pruned.operations
        values.append({"run": run, "layer": name, "line": name, "left": share.kept, "whole": share.of})
    tooltip, y = tips(runs, layer="", left=",d", whole=",d"), _lines(runs, values)
    x = number_axis("whole", quantity, format="~s", zero=True)
    bars = [
        layer({"type": "bar", "opacity": 0.25}, {"x": x}, y, tooltip),
        layer("bar", {"x": {**x, "field": "left"}}, y, by_run(runs), tooltip),
    ]
    caption = f"Faint: {quantity} of each layer of the whole network. Strong: what is left."
    title = f"{quantity.capitalize()} by layer"
    key = "layer-weights" if quantity == "parameters" else "layer-operations"
    return Chart(key, title, caption, view(values, bars, BAR * len(values)))


def error_curve(runs: Mapping[str, CompressionRecord], groups: Mapping[str, str] | None = None) -> Chart:
    """Error by operations.

    For one run: from the whole network through the loops to the final one. For several: the final networks, with a
    line through the means of each group of runs, usually those that differ only in their seeds.
    """
    caption = (
        "Operations: multiplications and additions per sample. By magnitude: pruned to the same size for comparison."
    )
    if len(runs) == 1:
        path = "The line leads from the whole network through the loops; what is left was then trained once more."
        return Chart("error", "Error by operations", f"{path} {caption}", _loops(next(iter(runs.values()))))
    values = [value for label, run in runs.items() for value in _networks(label, run)]
    ends = [value for value in values if value["network"] != WHOLE]
    errors_before = [value["error"] for value in values if value["network"] == WHOLE]
    means = _means(ends, {label: (groups or {}).get(label, label) for label in runs})
    colour, tooltip = _colours(values), tips(runs, network="", **_TOOLTIP)
    layers = [
        layer({"type": "line", "strokeWidth": 1.6}, _AXES, colour, data={"values": list(means)}),
        layer("point", _AXES, colour, tooltip),
    ]
    if errors_before:  # a rule, because the point would be far to the right
        mean = {"values": [{"network": WHOLE, "error": fmean(errors_before)}]}
        tooltip = tips([], network="", error=".2f")
        layers.append(layer({"type": "rule", "strokeDash": [5, 4]}, {"y": _AXES["y"]}, colour, tooltip, data=mean))
    lines = "Each dot is a run; lines connect the means of runs that differ only in their seeds."
    return Chart("error", "Error by operations", f"{lines} {caption}", view(ends, layers, 300))


_AXES: Part = {
    "x": log_axis("operations", "operations"),
    "y": number_axis("error", "test error, %", format=".3~f"),
}


_TOOLTIP = {"operations": ",d", "error": ".2f", "parameters": ",d"}


def _loops(run: CompressionRecord) -> Part:
    loops = [
        {"network": LOOP, "loop": loop.number, **_numbers(loop)}
        for loop in run.loops
        if loop.error is not None and loop.operations > 0
    ]
    values = [*loops, *_networks("", run)]
    colour, order = _colours(values), {"order": {"field": "operations", "type": "quantitative", "sort": "descending"}}
    loop_tips, tooltip = tips([], loop=",d", network="", **_TOOLTIP), tips([], network="", **_TOOLTIP)
    layers = [
        layer({"type": "line", "strokeWidth": 1, "opacity": 0.5}, _AXES, order, where=("network", [WHOLE, LOOP, LEFT])),
        layer({"type": "point", "size": 30}, _AXES, colour, loop_tips, where=("network", [LOOP])),
        layer({"type": "point", "size": 100}, _AXES, colour, tooltip, where=("network", [WHOLE, LEFT, MAGNITUDE])),
    ]
    return view(values, layers, 300)


def _networks(label: str, run: CompressionRecord) -> Iterator[Value]:
    networks: dict[str, NetworkRecord | None] = {WHOLE: run.whole, LEFT: run.left, MAGNITUDE: run.rival}
    for name, network in networks.items():
        if network is not None and network.operations > 0:
            yield {"run": label, "network": name, **_numbers(network)}


def _numbers(network: NetworkRecord | LoopRecord) -> Value:
    return {"operations": network.operations, "error": network.error, "parameters": network.parameters}


def _means(values: Sequence[Value], groups: Mapping[str, str]) -> Iterator[Value]:
    """The mean of each group, for each kind of network."""
    clusters: dict[tuple[str, str], list[Value]] = {}
    for value in values:
        clusters.setdefault((value["network"], groups[value["run"]]), []).append(value)
    for (name, _), cluster in clusters.items():
        yield {"network": name, **{key: fmean(value[key] for value in cluster) for key in ("operations", "error")}}


def _colours(values: Sequence[Value]) -> Part:
    """The colours of networks, the same in every chart; the legend lists those present."""
    colour = coloured("network", _NETWORKS)["color"]
    present = [name for name in _NETWORKS if any(value["network"] == name for value in values)]
    return {"color": {**colour, "legend": {**colour["legend"], "values": present}}}


_NETWORKS = (LEFT, MAGNITUDE, WHOLE, LOOP)


def _layers(runs: Layers) -> Iterator[tuple[str, str, PrunedLayer]]:
    """Name, run and layer, grouped by name in the order of the network."""
    for name in dict.fromkeys(pruned.name for layers in runs.values() for pruned in layers):
        for run, layers in runs.items():
            yield from ((name, run, pruned) for pruned in layers if pruned.name == name)


def _lines(runs: Layers, values: Sequence[Value]) -> Part:
    """A bar for each value; bars of several runs are next to each other."""
    domain = list(dict.fromkeys(value["line"] for value in values))
    y = {"y": {"field": "line", "type": "nominal", "scale": {"domain": domain}, "axis": name_axis()}}
    offset = {"yOffset": {"field": "run", "type": "nominal", "scale": {"domain": list(runs)}}}
    return y | offset if len(runs) > 1 else y
