"""A diagram as DOT, for Graphviz."""

from __future__ import annotations

from bayesnas_graph.report.palette import LIGHT
from bayesnas_graph.report.pictures.diagram import Box, Diagram, Panel

_SHAPES = {"input": "oval", "output": "oval", "node": "oval", "operation": "box", "motif": "box"}


def dot_text(diagram: Diagram) -> str:
    """One cluster per panel; a choice is a diamond with one outgoing edge per candidate."""
    lines = [
        "digraph {",
        "  rankdir=LR;",
        f"  label={_quoted(f'{diagram.title}', diagram.summary)};",
        '  node [fontname="sans-serif", fontsize=11];',
        '  edge [fontname="sans-serif", fontsize=10];',
    ]
    for number, panel in enumerate(diagram.panels):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(panel.title, *panel.notes)};"]
        lines += [f"    {line}" for line in _panel(f"p{number}", panel, diagram.colours)]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _panel(prefix: str, panel: Panel, colours: dict[str, int]) -> list[str]:
    lines = [f"{prefix}_{box.key} [{_attributes(box)}];" for box in panel.boxes]
    choices = {choice.key: choice for choice in panel.choices}
    for choice in panel.choices:
        sign = 'shape=diamond, label="0", margin=0' if choice.may_be_off else "shape=point"
        lines.append(f"{prefix}_{choice.key} [{sign}, tooltip={_quoted(choice.tip)}];")
    for wire in panel.wires:
        ends = f"{prefix}_{wire.source} -> {prefix}_{wire.target}"
        source, target = choices.get(wire.source), choices.get(wire.target)
        if source is None:
            note = _quoted(target.note) if target is not None and target.note else ""
            more = [f"label={note}"] if note else [f'label="x {wire.count}"'] if wire.count > 1 else []
            more += ["style=dashed"] if target is not None and target.dashed else []
            lines.append(f"{ends} [{', '.join(more)}];" if more else f"{ends};")
            continue
        for strand in source.strands:
            colour = LIGHT[colours.get(strand.label, 0) % len(LIGHT)]
            style = ", style=dashed" if source.dashed else ""
            label = _quoted("  " * strand.depth + strand.text)
            lines.append(f'{ends} [label={label}, tooltip={_quoted(strand.switch)}, color="{colour}"{style}];')
    return lines


def _attributes(box: Box) -> str:
    label = _quoted(*filter(None, (box.title, *box.texts, box.shape)))
    opened = ", peripheries=2" if box.opened else ""
    return f"shape={_SHAPES[box.kind]}, label={label}, tooltip={_quoted(box.tip)}{opened}"


def _quoted(*lines: str) -> str:
    r"""Lines as one quoted string with everything escaped except the line breaks.

    >>> print(_quoted('say "x"', "a\\b"))
    "say \"x\"\na\\b"
    """
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
