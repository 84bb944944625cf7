"""Vega: charts as files, and the scripts that draw them in a page."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from bayesnas_graph.report.charts.theme import config, ground
from bayesnas_graph.report.section import Chart

Format = Literal["svg", "pdf", "png"]

WIDTH = 640
LABELS = 80  # width of the axis labels of stacked charts
SCALE = 2.0  # of a PNG
_SNIPPET = "window.vegaEmbed=vegaEmbed;window.vega=vega;"


def render_chart(chart: Chart, format: Format, dark: bool = False, width: int = WIDTH) -> bytes:
    """Return the contents of a picture file."""
    import vl_convert as convert

    look = config(dark)
    look = {**look, "background": ground(dark), "view": {**look["view"], "continuousWidth": width - LABELS}}
    spec: dict[str, Any] = {**chart.spec}
    if spec.get("width") == "container":
        spec["width"] = width
    if format == "svg":
        return str(convert.vegalite_to_svg(spec, config=look)).encode()
    if format == "pdf":
        return bytes(convert.vegalite_to_pdf(spec, config=look))
    return bytes(convert.vegalite_to_png(spec, config=look, scale=SCALE))


@cache
def vega_runtime() -> str:
    """JavaScript that defines `vegaEmbed` and `vega`, safe inside a script element. Takes a second or two to build."""
    import vl_convert as convert

    return str(convert.javascript_bundle(_SNIPPET)).replace("</script", "<\\/script")
