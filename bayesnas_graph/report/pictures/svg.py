"""A page as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bayesnas_graph.report.pictures import measure
from bayesnas_graph.report.pictures.diagram import Box, Diagram, DrawnChoice, Strand
from bayesnas_graph.report.pictures.elements import (
    bend,
    curve,
    frame,
    length,
    pair,
    quoted,
    safe,
    text_element,
    turning,
)
from bayesnas_graph.report.pictures.geometry import Hop
from bayesnas_graph.report.pictures.measure import (
    DEPTH_INDENT,
    DIAMOND,
    SMALL,
    SMALL_LINE,
    TICK,
    TINY,
    TITLE,
    TITLE_LINE,
    Style,
)
from bayesnas_graph.report.pictures.page import INSET, MARGIN, NOTE_LINE, PANEL_HEADING, SWATCH, Key, Page, Placed
from bayesnas_graph.report.pictures.style import Theme, hover_rules, strand_class, strand_dash, style_sheet
from bayesnas_graph.report.pictures.words import text_width

ROUND = 10.0  # corners of wires that turn
INLINE = "bayesnas-graph"  # the class of a picture inside an HTML page
EDGE = 2.0  # around a single panel, for lines at its border

Part = tuple[str | int, ...]  # of a panel, such as `("box", 3)`; see `contents`
Classes = Mapping[Part, str]  # more classes for the parts of a panel
NO_CLASSES: Classes = {}


def svg_text(page: Page, theme: Theme = "auto", *, inline: bool = False) -> str:
    """The picture. Equal pages give equal text.

    With `inline` it can be a part of an HTML page: it is never wider than what is around it, and its style affects
    nothing else.
    """
    diagram = page.diagram
    width, height = length(page.width), length(page.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"'
    if inline:
        name = f"aria-label={quoted(f'{diagram.title}: {_description(diagram)}')}"
        more, heading = f'class="{INLINE}" style="max-width: 100%; height: auto" {name}', []
    else:
        more = 'aria-labelledby="title desc"'
        heading = [
            f'<title id="title">{safe(diagram.title)}</title>',
            f'<desc id="desc">{safe(_description(diagram))}</desc>',
        ]
    keys = {key for panel in diagram.panels for key in panel.keys}
    style = style_sheet(len(diagram.colours), theme, f".{INLINE}" if inline else "") + hover_rules(keys)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {more}>',
        *heading,
        f"<style>\n{style}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        text_element(MARGIN, MARGIN + 18, diagram.title, 22, bold=True),
        text_element(MARGIN, MARGIN + 38, diagram.summary, TITLE, kind="dim"),
    ]
    lines += (line for key in page.keys for line in _key(key, diagram))
    for placed in page.panels:
        lines += _panel(placed, diagram)
    return "\n".join([*lines, "</svg>"]) + "\n"


def panel_svg(placed: Placed, diagram: Diagram) -> str:
    """Only the contents of a panel, for a page with its own style, title and notes.

    It is a group with a name, not an image, since its parts can be pointed at.
    """
    width, height = placed.placement.width + 2 * EDGE, placed.placement.height + 2 * EDGE
    view = f"{length(-EDGE)} {length(-EDGE)} {length(width)} {length(height)}"
    size = f'width="{length(width)}" height="{length(height)}" viewBox="{view}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="group" aria-label={quoted(placed.panel.title)}>',
        f"<style>\n{hover_rules(placed.panel.keys)}</style>",
        '<g class="contents">',
        *contents(placed, diagram),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _description(diagram: Diagram) -> str:
    panels = "; ".join(f"{panel.title}: {', '.join(panel.notes)}" for panel in diagram.panels)
    return f"{diagram.summary}. Panels: {panels}"


def _panel(placed: Placed, diagram: Diagram) -> list[str]:
    panel = placed.panel
    outline = frame(placed.x, placed.y, placed.width, placed.height)
    lines = [
        "<g>",
        f'<rect class="panel" {outline} rx="8"/>',
        text_element(placed.x + INSET, placed.y + 28, panel.title, 15, bold=True),
    ]
    for number, note in enumerate(panel.notes):
        y = placed.y + PANEL_HEADING + NOTE_LINE * number + 11
        lines.append(text_element(placed.x + INSET, y, note, SMALL, kind="dim"))
    x, y = placed.inner
    return [
        *lines,
        f'<g class="contents" transform="translate({length(x)} {length(y)})">',
        *contents(placed, diagram),
        "</g>",
        "</g>",
    ]


def contents(placed: Placed, diagram: Diagram, classes: Classes | None = None) -> Iterable[str]:
    """Wires, boxes and choices, with attributes for scripts: keys (`data-key`) and connections.

    With `classes`, parts that come and go can be told apart. They are named `("box", key)`, `("wire", source,
    *targets)`, `("candidate", gate)`, and for choices `("head", key)`, `("zero", key)` and `("lead", key)`, the line
    that is behind the diamond.
    """
    panel = placed.panel
    drawing = _Contents(placed, diagram, classes or NO_CLASSES)
    keys = panel.keys
    centres = dict(zip(keys, placed.placement.centres, strict=True))
    optional = {choice.key for choice in panel.choices if choice.dashed}
    pills = {box.key for box in panel.boxes}
    for hop in placed.placement.hops:
        source = keys[hop.source]
        target = None if hop.target is None else keys[hop.target]
        dashed = source in optional or target in optional
        ends = [keys[end] for end in hop.leads_to]
        yield from drawing.wire(hop, source, ends, dashed=dashed, arrow=target in pills)
    for box in panel.boxes:
        yield from drawing.box(box, *centres[box.key])
    for choice in panel.choices:
        yield from drawing.choice(choice, *centres[choice.key])


class _Contents:
    """The parts of a panel."""

    def __init__(self, placed: Placed, diagram: Diagram, classes: Classes) -> None:
        self.panel, self.diagram, self.classes = placed.panel, diagram, classes

    def named(self, name: str, *part: str | int) -> str:
        """The attribute with the classes of a part; empty if it has none."""
        classes = " ".join(filter(None, [name, self.classes.get(part, "")]))
        return f' class="{classes}"' if classes else ""

    def wire(self, hop: Hop, source: int, targets: Sequence[int], *, dashed: bool, arrow: bool) -> Iterable[str]:
        ends = f' data-from="{source}" data-to="{" ".join(map(str, targets))}"'
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        part: Part = ("wire", source, *targets)
        yield f'<path{self.named("wire", *part)} d="{turning(hop, ROUND) if hop.turns else curve(hop)}"{dash}{ends}/>'
        if arrow:
            x, y = hop.points[-1]
            yield f'<path{self.named("tip", *part)} d="M{length(x)} {length(y)}l-7 -3.5v7z"{ends}/>'

    def box(self, box: Box, x: float, y: float) -> Iterable[str]:
        width, height = measure.box_width(box), measure.box_height(box)
        kind = {"node": "box node", "input": "box end", "output": "box end"}.get(box.kind, "box")
        kind = "box opened" if box.opened else kind
        corner = 4.0 if box.kind in ("operation", "motif") else height / 2
        opens = f' data-opens="{box.opens}" data-name={quoted(box.steps[0])}' if box.opened else ""
        yield f'<g{self.named("vertex", "box", box.key)} data-key="{box.key}"{opens}>'
        yield f"<title>{safe(box.tip)}</title>"
        yield f'<rect class="{kind}" {frame(x - width / 2, y - height / 2, width, height)} rx="{length(corner)}"/>'
        if box.kind == "motif":  # a double edge: there is something inside
            inner = frame(x - width / 2 + 3, y - height / 2 + 3, width - 6, height - 6)
            yield f'<rect class="{kind}" {inner} rx="2" fill-opacity="0"/>'
        line = y - height / 2 + 5
        if box.title:
            yield text_element(x, line + 13, box.title, TITLE, bold=True, anchor="middle")
            line += TITLE_LINE
        for text in box.texts:
            yield text_element(x, line + 10.5, text, SMALL, anchor="middle")
            line += SMALL_LINE
        if box.shape:
            yield text_element(x, y + height / 2 + 11.5, box.shape, TINY, kind="dim", anchor="middle")
        yield "</g>"

    def choice(self, choice: DrawnChoice, x: float, y: float) -> Iterable[str]:
        size = measure.choice_size(self.panel, choice)
        left, right = x - size.width / 2, x + size.width / 2
        zero = f" data-zero={quoted(choice.zero)}" if choice.has_zero else ""
        gate = f" data-gate={quoted(choice.gate)}" if choice.gate else ""
        yield f'<g class="choice" data-key="{choice.key}"{zero}{gate}>'
        yield f"<title>{safe(choice.tip)}</title>"
        if choice.bare:
            yield self.candidate(choice, choice.strands[0])
            if choice.may_be_off:
                yield from self.diamond(choice, x, y, (left, right))
            else:
                yield f'<path class="wire" d="M{length(left)} {length(y)}H{length(right)}"/>'
            yield "</g>"
        else:
            head = measure.choice_head(self.panel, choice)
            kind = " ".join(filter(None, ["dim", self.classes.get(("head", choice.key), "")]))
            yield text_element(x, y - size.above + 9.5, head, TINY, kind=kind, anchor="middle")
            style = measure.style_of(self.panel, choice)
            row = y - style.pitch * (len(choice.strands) - 1) / 2 + measure.drop(choice, style)
            begin = left + measure.lead(choice), y
            for strand in choice.strands:
                yield self.candidate(choice, strand)
                yield from _strand(strand, style, self.diagram.colours[strand.label], begin, (right, y), row)
                yield "</g>"
                row += style.pitch
            if choice.may_be_off:
                yield from self.diamond(choice, left + DIAMOND, y, (left, begin[0]))
        yield "</g>"

    def candidate(self, choice: DrawnChoice, strand: Strand) -> str:
        classes = self.named("candidate", "candidate", strand.gate)
        return f'<g{classes} data-gate={quoted(strand.gate)} data-key="{choice.key}">'

    def diamond(self, choice: DrawnChoice, x: float, y: float, ends: tuple[float, float]) -> Iterable[str]:
        """The diamond of a choice; where it may go, there is a line behind it."""
        if ("zero", choice.key) not in self.classes:
            yield from _zero(x, y)
            return
        yield f"<g{self.named('', 'lead', choice.key)}>"
        yield f'<path class="wire" d="M{length(ends[0])} {length(y)}H{length(ends[1])}"/></g>'
        yield f"<g{self.named('', 'zero', choice.key)}>"
        yield from _zero(x, y)
        yield "</g>"


def _strand(
    strand: Strand, style: Style, colour: int, begin: tuple[float, float], end: tuple[float, float], y: float
) -> Iterable[str]:
    """A candidate: a line from the diamond along its row to the point where all strands meet."""
    left, right = begin[0] + style.fan + DEPTH_INDENT * strand.depth, end[0] - style.fan
    out = f"M{pair(begin)}{bend(begin, (left, y))}"
    back = f"H{length(right)}{bend((right, y), end)}"
    yield f"<title>{safe(f'{strand.label}: {strand.tip}')}\n{safe(f'switch {strand.switch}')}</title>"
    if style.narrow:
        label = left + TICK + 4
        label_end = label + text_width(strand.text, SMALL)
        yield _coloured(colour, f"{out}h{length(TICK)}M{length(label_end)} {length(y)}{back}")
        yield text_element(label, y + 4, strand.text, SMALL)
    else:
        yield _coloured(colour, out + back)
        yield text_element((left + right) / 2, y - 5, strand.text, SMALL, anchor="middle")


def _coloured(colour: int, path: str) -> str:
    dash = strand_dash(colour)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path class="{strand_class(colour)}" d="{path}"{dashes}/>'


def _zero(x: float, y: float) -> Iterable[str]:
    """The diamond of the zero switch, which turns a whole choice off."""
    d = length(DIAMOND)
    yield f'<path class="zero" d="M{length(x - DIAMOND)} {length(y)}l{d} -{d} {d} {d} -{d} {d}z"/>'
    yield text_element(x, y + 3.7, "0", 10, anchor="middle")


def _key(key: Key, diagram: Diagram) -> Iterable[str]:
    x, y = key.x, key.y
    if key.sign == "strand":
        yield _coloured(diagram.colours[key.label], f"M{length(x)} {length(y)}h{length(SWATCH)}")
    elif key.sign == "zero":
        yield from _zero(x + SWATCH / 2, y)
    elif key.sign == "optional":
        yield f'<path class="wire" d="M{length(x)} {length(y)}h{length(SWATCH)}" stroke-dasharray="5 4"/>'
    else:
        kind = {"node": "box node", "opened": "box opened"}.get(key.sign, "box")
        corner = 7 if key.sign == "node" else 3
        yield f'<rect class="{kind}" {frame(x, y - 7, SWATCH, 14)} rx="{corner}"/>'
        if key.sign in ("motif", "opened"):
            yield f'<rect class="{kind}" {frame(x + 2.5, y - 4.5, SWATCH - 5, 9)} rx="2" fill-opacity="0"/>'
    yield text_element(x + SWATCH + 8, y + 4, key.label, SMALL)
