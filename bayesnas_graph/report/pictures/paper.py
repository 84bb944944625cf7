"""Cells in the style of the figures of DARTS: inputs c(k-2) and c(k-1), numbered nodes, and the output c(k)."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.report.pictures.diagram import Box, Panel

MINUS = "−"


def in_paper_style(panel: Panel) -> Panel:
    """A cell that reads the two before it, in the style of papers; any other panel as it is.

    What only prepares an input is part of that input. Nodes are numbered if all lead to the output.
    """
    if not any(box.back for box in panel.boxes):
        return panel
    panel = _without_preparation(panel)
    ends = {box.key for box in panel.boxes if box.kind == "output"}
    nodes = [box.key for box in panel.boxes if box.kind == "node"]
    last = {wire.source for wire in panel.wires if wire.target in ends}
    numbers = {key: str(number) for number, key in enumerate(nodes)} if last >= set(nodes) else {}

    def renamed(box: Box) -> Box:
        if box.back:
            return replace(box, title="c", subscript=f"k{MINUS}{box.back}", lines=(), settings=())
        if box.key in ends and len(ends) == 1:
            return replace(box, title="c", subscript="k", lines=(), settings=())
        return replace(box, title=numbers[box.key], lines=()) if box.key in numbers else box

    return replace(panel, boxes=tuple(map(renamed, panel.boxes)))


def _without_preparation(panel: Panel) -> Panel:
    """A panel where an input stands for what prepares it: the operations before the choices that only it reaches."""
    before = {box.key: box.sources or _read_by(panel, box.key) for box in panel.boxes}
    prepared = {box.key: box.back for box in panel.boxes if box.back}  # the input that is all a box depends on
    for box in sorted(panel.boxes, key=lambda box: box.key):  # a box comes after what it reads
        origins = {prepared.get(source) for source in before[box.key]}
        may_prepare = box.sources or panel.choices  # without choices, operations are what the cell does
        if box.kind != "output" and not box.back and may_prepare and len(origins) == 1 and None not in origins:
            prepared[box.key] = max(filter(None, origins))
    pills = [box.key for box in panel.boxes if box.sources and box.key in prepared]
    splitting = {source for key in pills for source in _read_by(panel, key)}  # they compute all prepared inputs at once
    inside = prepared.keys() | splitting
    read = {wire.source for wire in panel.wires if wire.target not in inside} & prepared.keys()
    if len({prepared[key] for key in read}) < len(read):
        return panel  # an input is read before it is prepared as well
    boxes = tuple(
        replace(box, kind="input", back=prepared[box.key]) if box.key in read else box
        for box in panel.boxes
        if box.key in read or box.key not in inside
    )
    keys = {box.key for box in boxes} | {choice.key for choice in panel.choices}
    wires = (wire for wire in panel.wires if wire.source in keys and wire.target in keys - read)
    return replace(panel, boxes=boxes, wires=tuple(wires))


def _read_by(panel: Panel, key: int) -> tuple[int, ...]:
    return tuple(wire.source for wire in panel.wires if wire.target == key)
