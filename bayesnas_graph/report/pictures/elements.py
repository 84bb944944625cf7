"""Elements of SVG: texts, lengths and curves."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from bayesnas_graph.report.pictures.geometry import Hop


def curve(hop: Hop) -> str:
    """A path that is level inside columns and curved between them."""
    begin, (x1, y1), (x2, y2), arrive = hop.points
    return f"M{pair(begin)}H{length(x1)}{bend((x1, y1), (x2, y2))}H{length(arrive[0])}"


def turning(hop: Hop, r: float) -> str:
    """A path out to the right, back between the rows, and in from the left, with corners of radius `r`."""
    (x0, y0), (outer, _), (_, middle), (inner, _), _, (x1, y1) = hop.points
    return (
        f"M{pair((x0, y0))}H{length(outer - r)}q{r:g} 0 {r:g} {r:g}V{length(middle - r)}q0 {r:g} -{r:g} {r:g}"
        f"H{length(inner + r)}q-{r:g} 0 -{r:g} {r:g}V{length(y1 - r)}q0 {r:g} {r:g} {r:g}H{length(x1)}"
    )


def bend(begin: tuple[float, float], end: tuple[float, float]) -> str:
    """A curve with horizontal ends."""
    middle = length((begin[0] + end[0]) / 2)
    return f"C{middle} {length(begin[1])} {middle} {length(end[1])} {pair(end)}"


def text_element(
    x: float, y: float, text: str, size: float, *, bold: bool = False, kind: str = "", anchor: str = "start"
) -> str:
    """A line of text. `anchor` says which point of it is at `x`."""
    more = (' font-weight="bold"' if bold else "") + (f" class={quoteattr(kind)}" if kind else "")
    more += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{length(x)}" y="{length(y)}" font-size="{size:g}"{more}>{safe(text)}</text>'


def frame(x: float, y: float, width: float, height: float) -> str:
    """The position and size of a rectangle, as attributes."""
    return f'x="{length(x)}" y="{length(y)}" width="{length(width)}" height="{length(height)}"'


def pair(point: tuple[float, float]) -> str:
    """A point of a path."""
    return f"{length(point[0])} {length(point[1])}"


def length(value: float) -> str:
    """A length, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.1f}"


def quoted(text: str) -> str:
    """Text as the value of an attribute."""
    return quoteattr(_printable(text))


def safe(text: str) -> str:
    """Text that XML can hold: control characters are not allowed even when escaped."""
    return escape(_printable(text))


def _printable(text: str) -> str:
    return "".join(c if c in "\n\t" or c.isprintable() else "�" for c in text)
