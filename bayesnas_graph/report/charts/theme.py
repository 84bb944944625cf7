"""Light and dark themes of charts."""

from __future__ import annotations

from typing import Any

from bayesnas_graph.report.charts.height import SPACING
from bayesnas_graph.report.palette import DARK, LIGHT
from bayesnas_graph.report.pictures.style import DARK_INKS, LIGHT_INKS

FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"

# From low to high. A single hue of varying lightness works for colour-blind readers and in print.
_RAMPS = {False: ["#e6eff8", "#8fbce2", "#1f6fb4", "#0a2f57"], True: ["#1d2a38", "#24598a", "#5fa8e6", "#e3f1ff"]}
_GRIDS = {False: "#e4e8ec", True: "#262c34"}


def config(dark: bool) -> dict[str, Any]:
    """The Vega-Lite configuration."""
    inks, colours = DARK_INKS if dark else LIGHT_INKS, list(DARK if dark else LIGHT)
    ink, dim, grid = inks["ink"], inks["dim"], _GRIDS[dark]
    return {
        "background": None,
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None, "continuousWidth": 300},
        "range": {"category": colours, "ordinal": _RAMPS[dark], "ramp": _RAMPS[dark], "heatmap": _RAMPS[dark]},
        "mark": {"color": colours[0], "invalid": "break-paths-show-path-domains"},
        "line": {"strokeWidth": 1.8},
        "point": {"filled": True, "size": 45},
        "rule": {"color": dim},
        "text": {"color": ink, "fontSize": 11},
        "axis": {
            "labelColor": dim,
            "titleColor": dim,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": grid,
            "domain": False,
            "tickColor": grid,
            "tickCount": 5,
        },
        "axisX": {"grid": False, "domain": True, "domainColor": grid},
        "legend": {
            "labelColor": ink,
            "titleColor": dim,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "symbolSize": 60,
            "labelLimit": 240,
            "gradientLength": 140,
            "gradientThickness": 10,
        },
        "title": {"color": ink, "anchor": "start", "fontSize": 12, "fontWeight": "normal"},
        "header": {"labelColor": ink, "titleColor": dim, "labelFontSize": 12},
        "concat": {"spacing": SPACING},
        "style": {
            "shown": {"color": ink, "stroke": ink, "strokeWidth": 1.5},
            "pointed": {"color": dim, "stroke": dim, "strokeWidth": 1.5, "strokeDash": [3, 3]},
            "phase": {"color": grid, "stroke": None},
            "phase-name": {"color": dim, "fontSize": 11},
            "update": {"color": dim, "strokeWidth": 1},
            "threshold": {"color": dim, "strokeDash": [4, 3]},
            "threshold-name": {"color": dim, "fontSize": 10},
        },
    }


def ground(dark: bool) -> str:
    """The background colour of charts saved as files."""
    return (DARK_INKS if dark else LIGHT_INKS)["panel"]
