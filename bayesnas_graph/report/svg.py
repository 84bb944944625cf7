"""A page as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from bayesnas_graph.report import measure
from bayesnas_graph.report.diagram import Box, Choice, Diagram, Strand
from bayesnas_graph.report.geometry import Hop
from bayesnas_graph.report.measure import DEPTH_INDENT, DIAMOND, SMALL, SMALL_LINE, TICK, TINY, TITLE, TITLE_LINE, Style
from bayesnas_graph.report.page import INSET, MARGIN, NOTE_LINE, PANEL_HEADING, SWATCH, Key, Page, Placed
from bayesnas_graph.report.style import strand_class, strand_dash, style_sheet
from bayesnas_graph.report.words import text_width

ROUND = 10.0  # corners of wires that turn


def svg_text(page: Page) -> str:
    """The picture. Equal pages give equal text."""
    diagram = page.diagram
    width, height = _number(page.width), _number(page.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{_safe(diagram.title)}</title>',
        f'<desc id="desc">{_safe(_description(diagram))}</desc>',
        f"<style>\n{style_sheet(len(diagram.colours))}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        _text(MARGIN, MARGIN + 18, diagram.title, 22, bold=True),
        _text(MARGIN, MARGIN + 38, diagram.summary, TITLE, kind="dim"),
    ]
    lines += (line for key in page.keys for line in _key(key, diagram))
    for placed in page.panels:
        lines += _panel(placed, diagram)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _description(diagram: Diagram) -> str:
    panels = "; ".join(f"{panel.title}: {', '.join(panel.notes)}" for panel in diagram.panels)
    return f"{diagram.summary}. Panels: {panels}"


def _panel(placed: Placed, diagram: Diagram) -> list[str]:
    panel = placed.panel
    frame = f"{_place(placed.x, placed.y, placed.width, placed.height)}"
    lines = [
        "<g>",
        f'<rect class="panel" {frame} rx="8"/>',
        _text(placed.x + INSET, placed.y + 28, panel.title, 15, bold=True),
    ]
    for number, note in enumerate(panel.notes):
        y = placed.y + PANEL_HEADING + NOTE_LINE * number + 11
        lines.append(_text(placed.x + INSET, y, note, SMALL, kind="dim"))
    x, y = placed.inner
    lines.append(f'<g transform="translate({_number(x)} {_number(y)})">')
    keys = sorted([*(box.key for box in panel.boxes), *(choice.key for choice in panel.choices)])
    centres = dict(zip(keys, placed.placement.centres, strict=True))
    optional = {choice.key for choice in panel.choices if choice.optional}
    pills = {box.key for box in panel.boxes}
    for hop in placed.placement.hops:
        source = keys[hop.source]
        target = None if hop.target is None else keys[hop.target]
        lines += _wire(hop, dashed=source in optional or target in optional, arrow=target in pills)
    for box in panel.boxes:
        lines += _box(box, *centres[box.key])
    for choice in panel.choices:
        lines += _choice(placed, choice, diagram, *centres[choice.key])
    return [*lines, "</g>", "</g>"]


# ---- the parts of a panel


def _wire(hop: Hop, *, dashed: bool, arrow: bool) -> Iterable[str]:
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    yield f'<path class="wire" d="{_turning(hop) if hop.turns else _curve(hop)}"{dash}/>'
    if arrow:
        x, y = hop.points[-1]
        yield f'<path class="tip" d="M{_number(x)} {_number(y)}l-7 -3.5v7z"/>'


def _curve(hop: Hop) -> str:
    """Level through the columns, a curve between them."""
    begin, (x1, y1), (x2, y2), arrive = hop.points
    return f"M{_pair(begin)}H{_number(x1)}{_bend((x1, y1), (x2, y2))}H{_number(arrive[0])}"


def _turning(hop: Hop) -> str:
    """Out to the right, back between the rows, and in from the left."""
    (x0, y0), (outer, _), (_, middle), (inner, _), _, (x1, y1) = hop.points
    r = ROUND
    return (
        f"M{_pair((x0, y0))}H{_number(outer - r)}q{r:g} 0 {r:g} {r:g}V{_number(middle - r)}q0 {r:g} -{r:g} {r:g}"
        f"H{_number(inner + r)}q-{r:g} 0 -{r:g} {r:g}V{_number(y1 - r)}q0 {r:g} {r:g} {r:g}H{_number(x1)}"
    )


def _box(box: Box, x: float, y: float) -> Iterable[str]:
    width, height = measure.box_width(box), measure.box_height(box)
    kind = {"node": "box node", "input": "box end", "output": "box end"}.get(box.kind, "box")
    kind = "box opened" if box.opened else kind
    corner = 4.0 if box.kind in ("operation", "motif") else height / 2
    yield "<g>"
    yield f"<title>{_safe(box.tip)}</title>"
    yield f'<rect class="{kind}" {_place(x - width / 2, y - height / 2, width, height)} rx="{_number(corner)}"/>'
    if box.kind == "motif":  # a double edge: there is something inside
        inner = _place(x - width / 2 + 3, y - height / 2 + 3, width - 6, height - 6)
        yield f'<rect class="{kind}" {inner} rx="2" fill-opacity="0"/>'
    line = y - height / 2 + 5
    if box.title:
        yield _text(x, line + 13, box.title, TITLE, bold=True, anchor="middle")
        line += TITLE_LINE
    for text in box.lines:
        yield _text(x, line + 10.5, text, SMALL, anchor="middle")
        line += SMALL_LINE
    if box.shape:
        yield _text(x, y + height / 2 + 11.5, box.shape, TINY, kind="dim", anchor="middle")
    yield "</g>"


def _choice(placed: Placed, choice: Choice, diagram: Diagram, x: float, y: float) -> Iterable[str]:
    size = measure.choice_size(placed.panel, choice)
    left, right = x - size.width / 2, x + size.width / 2
    yield "<g>"
    yield f"<title>{_safe(choice.tip)}</title>"
    if choice.bare:
        yield from _zero(x, y)
    else:
        head = measure.choice_head(placed.panel, choice)
        yield _text(x, y - size.above + 9.5, head, TINY, kind="dim", anchor="middle")
        style = measure.style_of(placed.panel, choice)
        # Labels stand on long lines, so that all of it is a little below the middle, and beside short ones.
        row = y - style.pitch * (len(choice.strands) - 1) / 2 + (0 if style.narrow else 4)
        for strand in choice.strands:
            yield from _strand(strand, style, diagram.colours[strand.label], (left + 2 * DIAMOND, y), (right, y), row)
            row += style.pitch
        yield from _zero(left + DIAMOND, y)
    yield "</g>"


def _strand(
    strand: Strand, style: Style, colour: int, begin: tuple[float, float], end: tuple[float, float], y: float
) -> Iterable[str]:
    """A candidate: a line out of the diamond, along its row, and to where all meet again."""
    left, right = begin[0] + style.fan + DEPTH_INDENT * strand.depth, end[0] - style.fan
    out = f"M{_pair(begin)}{_bend(begin, (left, y))}"
    back = f"H{_number(right)}{_bend((right, y), end)}"
    yield f"<g><title>{_safe(f'{strand.label}: {strand.tip}')}\n{_safe(f'switch {strand.gate}')}</title>"
    if style.narrow:
        label = left + TICK + 4
        label_end = label + text_width(strand.label, SMALL)
        yield _coloured(colour, f"{out}h{_number(TICK)}M{_number(label_end)} {_number(y)}{back}")
        yield _text(label, y + 4, strand.label, SMALL)
    else:
        yield _coloured(colour, out + back)
        yield _text((left + right) / 2, y - 5, strand.label, SMALL, anchor="middle")
    yield "</g>"


def _coloured(colour: int, path: str) -> str:
    dash = strand_dash(colour)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path class="{strand_class(colour)}" d="{path}"{dashes}/>'


def _bend(begin: tuple[float, float], end: tuple[float, float]) -> str:
    """A curve that is level at both ends."""
    middle = _number((begin[0] + end[0]) / 2)
    return f"C{middle} {_number(begin[1])} {middle} {_number(end[1])} {_pair(end)}"


def _zero(x: float, y: float) -> Iterable[str]:
    """The zero node: where a choice can be switched off as a whole."""
    d = _number(DIAMOND)
    yield f'<path class="zero" d="M{_number(x - DIAMOND)} {_number(y)}l{d} -{d} {d} {d} -{d} {d}z"/>'
    yield _text(x, y + 3.7, "0", 10, anchor="middle")


def _key(key: Key, diagram: Diagram) -> Iterable[str]:
    x, y = key.x, key.y
    if key.sign == "strand":
        yield _coloured(diagram.colours[key.label], f"M{_number(x)} {_number(y)}h{_number(SWATCH)}")
    elif key.sign == "zero":
        yield from _zero(x + SWATCH / 2, y)
    elif key.sign == "optional":
        yield f'<path class="wire" d="M{_number(x)} {_number(y)}h{_number(SWATCH)}" stroke-dasharray="5 4"/>'
    else:
        kind = {"node": "box node", "opened": "box opened"}.get(key.sign, "box")
        corner = 7 if key.sign == "node" else 3
        yield f'<rect class="{kind}" {_place(x, y - 7, SWATCH, 14)} rx="{corner}"/>'
        if key.sign in ("motif", "opened"):
            yield f'<rect class="{kind}" {_place(x + 2.5, y - 4.5, SWATCH - 5, 9)} rx="2" fill-opacity="0"/>'
    yield _text(x + SWATCH + 8, y + 4, key.label, SMALL)


# ---- writing


def _text(
    x: float, y: float, text: str, size: float, *, bold: bool = False, kind: str = "", anchor: str = "start"
) -> str:
    more = (' font-weight="bold"' if bold else "") + (f" class={quoteattr(kind)}" if kind else "")
    more += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{_number(x)}" y="{_number(y)}" font-size="{size:g}"{more}>{_safe(text)}</text>'


def _place(x: float, y: float, width: float, height: float) -> str:
    return f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'


def _pair(point: tuple[float, float]) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """A length, to a tenth of a pixel."""
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.1f}"


def _safe(text: str) -> str:
    """Text that XML can hold: control characters are not allowed even when escaped."""
    return escape("".join(c if c in "\n\t" or c.isprintable() else "�" for c in text))
