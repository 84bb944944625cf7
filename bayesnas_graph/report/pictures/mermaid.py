"""A diagram as a Mermaid flowchart, which many sites render in place."""

from __future__ import annotations

from bayesnas_graph.report.palette import LIGHT
from bayesnas_graph.report.pictures.diagram import Box, Diagram, Panel

_BRACKETS = {
    "input": ("([", "])"),
    "output": ("([", "])"),
    "node": ("([", "])"),
    "operation": ("[", "]"),
    "motif": ("[[", "]]"),
}
_ZERO = '{"0"}'


def mermaid_text(diagram: Diagram) -> str:
    """One subgraph per panel; a choice is a diamond with one outgoing edge per candidate."""
    lines = ["flowchart LR"]
    styles: list[str] = []
    count = 0  # of edges, which are styled by number
    for number, panel in enumerate(diagram.panels):
        title = _quoted(f"{panel.title}: {'; '.join(panel.notes)}")
        lines += [f"  subgraph s{number}[{title}]", "    direction LR"]
        prefix = f"p{number}"
        lines += [f"    {prefix}_{box.key}{_box(box)}" for box in panel.boxes]
        lines += [f"    {prefix}_{choice.key}{_ZERO if choice.may_be_off else '(( ))'}" for choice in panel.choices]
        for line, colour in _edges(prefix, panel, diagram.colours):
            lines.append(f"    {line}")
            if colour is not None:
                styles.append(f"  linkStyle {count} stroke:{LIGHT[colour % len(LIGHT)]}")
            count += 1
        lines.append("  end")
    return "\n".join([*lines, *styles]) + "\n"


def _edges(prefix: str, panel: Panel, colours: dict[str, int]) -> list[tuple[str, int | None]]:
    choices = {choice.key: choice for choice in panel.choices}
    edges: list[tuple[str, int | None]] = []
    for wire in panel.wires:
        source, target = choices.get(wire.source), choices.get(wire.target)
        ends = f"{prefix}_{wire.source}", f"{prefix}_{wire.target}"
        if source is None:
            arrow = "-.->" if target is not None and target.dashed else "-->"
            note = target.note if target is not None else f"x {wire.count}" if wire.count > 1 else ""
            edges.append((_edge(ends, arrow, note), None))
            continue
        for strand in source.strands:
            arrow = "-.->" if source.dashed else "-->"
            edges.append((_edge(ends, arrow, strand.text), colours.get(strand.label)))
    return edges


def _edge(ends: tuple[str, str], arrow: str, label: str) -> str:
    return f"{ends[0]} {arrow}|{_quoted(label)}| {ends[1]}" if label else f"{ends[0]} {arrow} {ends[1]}"


def _box(box: Box) -> str:
    opening, closing = _BRACKETS[box.kind]
    text = "<br/>".join(_escaped(line) for line in (box.title, *box.texts, box.shape) if line)
    return f'{opening}"{text}"{closing}'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Text with all characters escaped that are special in Mermaid or HTML.

    >>> _escaped('a"b <i>')
    'a#34;b #60;i#62;'
    """
    return "".join(c if c.isalnum() or c in " _.,:;()=/+-×→·" else f"#{ord(c)};" for c in text)
