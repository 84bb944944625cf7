"""Cells that look the same are drawn once."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.report.pictures.diagram import Box, Diagram, DrawnChoice, Panel, titled
from bayesnas_graph.report.pictures.settings import merged_settings


def merge_alike(diagram: Diagram) -> Diagram:
    """A diagram with one panel for cells of the same graph and the same candidates.

    After a search they must have kept the same candidates, too. Arguments and shapes may differ.
    """
    groups: dict[object, list[int]] = {}
    for number, panel in enumerate(diagram.panels):
        groups.setdefault(_look(panel) if _is_whole(panel) else number, []).append(number)
    places = {number: place for place, group in enumerate(groups.values()) for number in group}
    panels = []
    for group in groups.values():
        panel = _merged([diagram.panels[number] for number in group])
        boxes = (box if box.opens is None else replace(box, opens=places[box.opens]) for box in panel.boxes)
        panels.append(replace(panel, boxes=tuple(boxes)))
    return replace(diagram, panels=tuple(panels))


def _is_whole(panel: Panel) -> bool:
    """Whether a panel is a cell in its only form and with its only outcome."""
    names = list(dict.fromkeys(panel.named))
    return panel.role == "cell" and not panel.alias and panel.title == titled("cell", names)


def _look(panel: Panel) -> object:
    """A value that is equal for panels that differ only in arguments and shapes."""
    return tuple(map(_look_of_box, panel.boxes)), tuple(map(_look_of_choice, panel.choices)), panel.wires


def _look_of_box(box: Box) -> object:
    settings = tuple(setting.name for setting in box.settings)
    shape = box.kind, box.title, box.name, box.lines, settings, box.stacks, box.repeats, box.back
    return box.key, shape, box.opens, box.steps


def _look_of_choice(choice: DrawnChoice) -> object:
    strands = tuple((s.label, s.gate, s.depth, s.note) for s in choice.strands)
    return choice.key, strands, choice.limit, choice.least, choice.optional, choice.gate, choice.is_decided


def _merged(alike: list[Panel]) -> Panel:
    first = alike[0]
    if len(alike) == 1:
        return first
    names = [list(dict.fromkeys(panel.named)) for panel in alike]
    abouts = [f"{', '.join(own)}: {panel.notes[0]}" for own, panel in zip(names, alike, strict=True) if panel.notes]
    others = dict.fromkeys(note for panel in alike for note in panel.notes[1:])
    boxes = tuple(
        replace(same[0], settings=merged_settings([box.settings for box in same]))
        for same in zip(*(panel.boxes for panel in alike), strict=True)
    )
    return replace(
        first,
        title=titled(first.role, [name for own in names for name in own]),
        notes=(*abouts, *others),
        boxes=boxes,
        uses=tuple(use for panel in alike for use in panel.uses),
        named=tuple(name for panel in alike for name in panel.named),
    )
