"""Sizes of boxes and choices, and positions of their texts."""

from __future__ import annotations

from dataclasses import dataclass

from bayesnas_graph.report.pictures.diagram import Box, DrawnChoice, Panel
from bayesnas_graph.report.pictures.geometry import VertexSize
from bayesnas_graph.report.pictures.words import text_width

TITLE, SMALL, TINY = 13.0, 11.0, 10.5  # sizes of text
TITLE_LINE, SMALL_LINE, SHAPE_LINE = 17.0, 14.0, 15.0
PADDING = 10.0
DIAMOND = 9.0  # from its centre to its corners
TICK = 12.0  # a short line before a label
DEPTH_INDENT = 12.0  # of a candidate inside a candidate
FAN = 26.0  # the width where the strands of a choice spread out or meet
MANY_STRANDS, MANY_CHOICES = 4, 8  # beyond these, strands are drawn narrow


@dataclass(frozen=True)
class Style:
    """How the choices of a panel are drawn."""

    pitch: float  # distance between strands
    fan: float

    @property
    def narrow(self) -> bool:
        """Whether labels are beside short lines, not on long ones."""
        return self.pitch < 18


WIDE, NARROW = Style(20.0, FAN), Style(14.0, 14.0)


def style_of(panel: Panel, choice: DrawnChoice) -> Style:
    """Narrow strands where there are many."""
    many = len(choice.strands) > MANY_STRANDS or len(panel.choices) > MANY_CHOICES
    return NARROW if many else WIDE


def box_size(box: Box) -> VertexSize:
    """The size of a box with its shape below."""
    height = box_height(box)
    width = max(box_width(box), text_width(box.shape, TINY))
    return VertexSize(width, height / 2, height / 2 + (SHAPE_LINE if box.shape else 0), box_width(box))


def box_width(box: Box) -> float:
    """The width of the box itself, even if its shape is wider."""
    widths = [text_width(box.title, TITLE, bold=True), *(text_width(line, SMALL) for line in box.texts)]
    return max(max(widths) + 2 * PADDING, 34.0)


def box_height(box: Box) -> float:
    """The height of the box itself."""
    return 10.0 + (TITLE_LINE if box.title else 0) + SMALL_LINE * len(box.texts)


def choice_head(panel: Panel, choice: DrawnChoice) -> str:
    """The text above the strands."""
    return " · ".join(part for part in (panel.route(choice), choice.note, "optional" * choice.dashed) if part)


def choice_size(panel: Panel, choice: DrawnChoice) -> VertexSize:
    """The size of a choice: a diamond, the strands between two fans, and a line above."""
    if choice.bare:
        return VertexSize(2 * DIAMOND + 4, DIAMOND + 2, DIAMOND + 2, 2 * DIAMOND, late=True)
    style = style_of(panel, choice)
    head = text_width(choice_head(panel, choice), TINY)
    width = max(strand_room(choice, style) + 2 * style.fan + lead(choice), head + 4)
    height = style.pitch * len(choice.strands)
    above = height / 2 + SHAPE_LINE - (style.pitch / 2 - 7 if style.narrow else drop(choice, style) - 4)
    return VertexSize(width, above, height / 2, width, late=True)


def drop(choice: DrawnChoice, style: Style) -> float:
    """How far the strands are below the middle: labels are on long lines, or beside short ones.

    A single strand is level.
    """
    return 0.0 if style.narrow or (choice.is_decided and len(choice.strands) == 1) else 4.0


def lead(choice: DrawnChoice) -> float:
    """The width of the diamond before the strands; zero for a choice that cannot be off."""
    return 2 * DIAMOND if choice.may_be_off else 0.0


def strand_room(choice: DrawnChoice, style: Style) -> float:
    """The width of the longest label."""
    beside = TICK + 8.0 if style.narrow else 8.0
    return max(text_width(strand.text, SMALL) + DEPTH_INDENT * strand.depth for strand in choice.strands) + beside
