"""Colours and fonts, for light and dark themes.

The rules use no CSS variables, because some SVG converters do not support them. These converters also skip the rules
for dark screens, and so draw the light picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from bayesnas_graph.report.palette import DARK, LIGHT

Theme = Literal["auto", "light", "dark"]

HIGHLIGHT = "#2f81f7"  # of wires under the pointer, in both themes
DASHES = ("", "7 3", "2 3", "10 3 2 3")  # distinguish candidates when colours repeat

_RULES = """\
text {{ font-family: sans-serif; fill: {ink}; }}
.page {{ fill: {page}; }}
.panel {{ fill: {panel}; stroke: {frame}; }}
.dim {{ fill: {dim}; }}
.box {{ fill: {box}; stroke: {line}; stroke-width: 1.2; }}
.node {{ fill: {node}; stroke: {line}; }}
.end {{ fill: {end}; stroke: {line}; }}
.opened {{ fill: {opened}; stroke: {accent}; }}
.wire {{ fill: none; stroke: {wire}; stroke-width: 1.3; }}
.tip {{ fill: {wire}; }}
.zero {{ fill: {panel}; stroke: {ink}; stroke-width: 1.1; }}
.strand {{ fill: none; stroke-width: 2; }}
"""
LIGHT_INKS = {
    "ink": "#1b1f24", "dim": "#57606a", "page": "#f6f8fa", "panel": "#ffffff", "frame": "#d0d7de", "box": "#f6f8fa",
    "line": "#8c959f", "node": "#ddf4ff", "end": "#eaeef2", "opened": "#fff8e5", "accent": "#bf8700", "wire": "#848d97",
}  # fmt: skip
DARK_INKS = {
    "ink": "#e6edf3", "dim": "#9aa4af", "page": "#0d1117", "panel": "#161b22", "frame": "#30363d", "box": "#21262d",
    "line": "#6e7681", "node": "#0c2d4d", "end": "#2d333b", "opened": "#33270a", "accent": "#d29922", "wire": "#8b949e",
}  # fmt: skip


def style_sheet(colours: int, theme: Theme = "auto", scope: str = "") -> str:
    """The rules for a page with this number of candidate colours."""
    if theme != "auto":
        return rules(theme == "dark", colours, scope)
    dark = f"@media (prefers-color-scheme: dark) {{\n{rules(True, colours, scope)}}}\n"
    return rules(False, colours, scope) + dark


def hover_rules(keys: Iterable[int]) -> str:
    """Rules that highlight the wires of a box, or of the choice of a candidate, while the pointer is on it.

    >>> print(hover_rules([3]), end="")
    @media (hover: hover) {
    .candidate:hover path { stroke-width: 3.5 !important; }
    .contents:has([data-key="3"]:hover) :is([data-from="3"], [data-to~="3"])
    { stroke: #2f81f7 !important; stroke-width: 2; }
    }
    """
    wires = ",\n".join(
        f'.contents:has([data-key="{key}"]:hover) :is([data-from="{key}"], [data-to~="{key}"])' for key in sorted(keys)
    )
    candidates = ".candidate:hover path { stroke-width: 3.5 !important; }\n"
    look = f"{{ stroke: {HIGHLIGHT} !important; stroke-width: 2; }}"
    return f"@media (hover: hover) {{\n{candidates}{wires}\n{look}\n}}\n" if wires else ""


def rules(dark: bool, colours: int, scope: str = "") -> str:
    """The rules of one theme, optionally only for pictures inside the elements that `scope` selects.

    >>> rules(False, 0, ".picture").splitlines()[1]
    '.picture .page { fill: #f6f8fa; }'
    """
    strands = enumerate((DARK if dark else LIGHT)[:colours])
    text = _RULES.format(**(DARK_INKS if dark else LIGHT_INKS)) + "".join(
        f".c{i} {{ stroke: {c}; }}\n" for i, c in strands
    )
    return "".join(f"{scope} {line}" for line in text.splitlines(keepends=True)) if scope else text


def strand_class(number: int) -> str:
    """The class of the colour with this number."""
    return f"strand c{number % len(LIGHT)}"


def strand_dash(number: int) -> str:
    """The dash pattern of a colour: none until colours repeat."""
    return DASHES[number // len(LIGHT) % len(DASHES)]
