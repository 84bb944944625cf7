"""Charts without a browser, and what draws them in one."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from bayesnas_graph.report.charts.theme import config, ground
from bayesnas_graph.report.section import Chart

Format = Literal["svg", "pdf", "png"]

WIDTH = 640  # of a picture
LABELS = 80  # of that beside charts below one another
SCALE = 2.0  # pixels of a PNG per unit
_SNIPPET = "window.vegaEmbed=vegaEmbed;window.vega=vega;"


def chart_picture(chart: Chart, format: Format, dark: bool = False, width: int = WIDTH) -> bytes:
    """A chart as a file."""
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
def runtime() -> str:
    """JavaScript that puts `vegaEmbed` and `vega` into a page. It takes a second or two to make, once.

    Nothing in it ends a script element.
    """
    import vl_convert as convert

    return str(convert.javascript_bundle(_SNIPPET)).replace("</script", "<\\/script")
