"""A search as a movie: the panels with choices, and above them numbers that count along.

All frames have the same parts in the same places; they only differ in how visible each part is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bayesnas_graph.ir import inner_name
from bayesnas_graph.report.pictures.convert import Picture
from bayesnas_graph.report.pictures.decided import uses_left
from bayesnas_graph.report.pictures.diagram import Diagram, Panel
from bayesnas_graph.report.pictures.elements import frame, length, safe, text_element
from bayesnas_graph.report.pictures.measure import SMALL
from bayesnas_graph.report.pictures.motion import Motion, Timing, Visible
from bayesnas_graph.report.pictures.page import MARGIN, PAGE_WIDTH, PANEL_GAP, PANEL_HEADING, Placed, measured
from bayesnas_graph.report.pictures.style import style_sheet
from bayesnas_graph.report.pictures.svg import Part, contents
from bayesnas_graph.report.pictures.words import shortened, text_width

MOST_PANELS = 4
UPDATES, LONGEST_UPDATE, SHORTEST_UPDATE, HOLD = 10.0, 0.8, 0.25, 4.0  # seconds: all, each, and the last frame
FAINT, DIM = 0.1, 0.25  # opacities: of what is closed, and of the weakest candidate that is open
LONGEST_TITLE = 60
TITLE_SIZE, NUMBER_SIZE = 20, 16
HEADING, BAR = 88.0, 3.0  # heights: of the title and the numbers, and of the bar that shows the time
COLUMN_GAP = 28.0


@dataclass(frozen=True)
class Scene:
    """The state of a search at one moment."""

    numbers: Mapping[str, str]  # what is shown above the panels, by caption
    kept: frozenset[str]  # the gates that are open, by full name
    strengths: Mapping[str, float] = field(default_factory=dict)  # of open gates, from 0 to 1; 1 if missing
    is_derived: bool = False  # whether all is decided, and what is closed is gone


@dataclass(frozen=True)
class Movie:
    """A movie that is ready to be written."""

    diagram: Diagram  # only the panels that are shown
    panels: tuple[Placed, ...]
    parts: tuple[Mapping[Part, Visible], ...]  # for each panel
    scenes: tuple[Scene, ...]
    timing: Timing
    width: float
    height: float

    def svg(self) -> str:
        """The movie as SVG that moves by itself and never ends."""
        return self._svg(self._motion.animated())

    def frames(self) -> Iterator[Picture]:
        """Each frame as a picture."""
        motion = self._motion
        for number in range(len(self.scenes)):
            yield Picture(self._svg(motion.still(number)), self.width, self.height, 1.0)

    @property
    def _motion(self) -> Motion:
        fading = [way for parts in self.parts for way in parts.values()]
        count = len(self.scenes)
        return Motion.of(self.timing, [*fading, *self._progress], [_only(number, count) for number in range(count)])

    @property
    def _progress(self) -> list[Visible]:
        count = len(self.scenes)
        return [(0.0,) * number + (1.0,) * (count - number) for number in range(count)]

    def _svg(self, moving: str) -> str:
        motion, width, height = self._motion, length(self.width), length(self.height)
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{safe(f"the search of {self.diagram.title}")}</title>',
            f'<desc id="desc">{safe(self._description)}</desc>',
            f"<style>\n{style_sheet(len(self.diagram.colours), 'light')}{moving}</style>",
            f'<rect class="panel" {frame(0.5, 0.5, self.width - 1, self.height - 1)} rx="12"/>',
            text_element(MARGIN, MARGIN + 14, self._title, TITLE_SIZE, bold=True),
            *self._numbers(motion),
            *self._bar(motion),
        ]
        for placed, parts in zip(self.panels, self.parts, strict=True):
            classes = {part: motion.class_of(way) for part, way in parts.items()}
            x, y = placed.x, placed.y
            lines.append(text_element(x, y + 16, placed.panel.title, 15, bold=True))
            lines.append(f'<g transform="translate({length(x)} {length(y + PANEL_HEADING)})">')
            lines += contents(placed, self.diagram, classes)
            lines.append("</g>")
        return "\n".join([*lines, "</svg>"]) + "\n"

    @property
    def _title(self) -> str:
        return shortened(self.diagram.title, LONGEST_TITLE)

    @property
    def _description(self) -> str:
        first, last = (", ".join(f"{name} {text}" for name, text in self.scenes[at].numbers.items()) for at in (0, -1))
        return f"The first frame: {first}. The last frame: {last}."

    def _numbers(self, motion: Motion) -> Iterator[str]:
        count = len(self.scenes)
        x = MARGIN
        for name, width in _columns(self.scenes):
            yield text_element(x, MARGIN + 38, name, SMALL, kind="dim")
            for number, scene in enumerate(self.scenes):
                if text := scene.numbers.get(name):
                    kind = motion.class_of(_only(number, count), fades=False)
                    yield text_element(x, MARGIN + 57, text, NUMBER_SIZE, bold=True, kind=kind)
            x += width + COLUMN_GAP

    def _bar(self, motion: Motion) -> Iterator[str]:
        """A bar that grows from frame to frame."""
        ways = self._progress
        step = (self.width - 2 * MARGIN) / len(ways)
        for number, way in enumerate(ways):
            place = frame(MARGIN + number * step, MARGIN + HEADING - 20, step, BAR)
            kind = " ".join(filter(None, ["tip", motion.class_of(way)]))
            yield f'<rect class="{kind}" {place}/>'


def movie_of(diagram: Diagram, scenes: Sequence[Scene]) -> Movie:
    """The movie of a search, from the first scene to the last. `diagram` is the whole space.

    Of a large space, only the first panels with choices are shown.
    """
    numbers = [number for number, panel in enumerate(diagram.panels) if panel.choices][:MOST_PANELS]
    shown = diagram.only(numbers)
    title = text_width(shortened(diagram.title, LONGEST_TITLE), TITLE_SIZE, bold=True)
    columns = [width for _, width in _columns(scenes)]
    panels, y, width = [], MARGIN + HEADING, max(title, sum(columns) + COLUMN_GAP * (len(columns) - 1))
    for panel in shown.panels:
        placed = measured(panel, PAGE_WIDTH - 2 * MARGIN)
        panels.append(replace(placed, x=MARGIN, y=y))
        width = max(width, placed.placement.width, text_width(panel.title, 15, bold=True))
        y += PANEL_HEADING + placed.placement.height + PANEL_GAP
    left = [uses_left(diagram, scene.kept) for scene in scenes]
    parts = []
    for number, placed in zip(numbers, panels, strict=True):
        visible = [
            _visible(placed, {use: here for (at, use), here in found.items() if at == number}, scene)
            for found, scene in zip(left, scenes, strict=True)
        ]
        parts.append({part: tuple(each[part] for each in visible) for part in visible[0]})
    size = width + 2 * MARGIN, y - PANEL_GAP + MARGIN
    return Movie(shown, tuple(panels), tuple(parts), tuple(scenes), _timing(len(scenes)), *size)


def _visible(placed: Placed, left: Mapping[str, Panel], scene: Scene) -> dict[Part, float]:
    """How visible every part of a panel is. `left` is what is left of it in each of its uses that is still reached."""
    panel = placed.panel
    gone = 0.0 if scene.is_derived else FAINT
    boxes = {box.key for here in left.values() for box in here.boxes}
    choices = {choice.key for here in left.values() for choice in here.choices}
    wires = {(wire.source, wire.target) for here in left.values() for wire in here.wires}
    strengths: dict[str, float] = {}
    for use, here in left.items():
        for gate in here.gates:
            strength = 1.0 if scene.is_derived else scene.strengths.get(inner_name(use, gate), 1.0)
            strengths[gate] = strengths.get(gate, 0.0) + (DIM + (1 - DIM) * strength) / len(panel.uses)
    visible: dict[Part, float] = {("box", box.key): 1.0 if box.key in boxes else gone for box in panel.boxes}
    for hop in placed.placement.hops:
        source, targets = panel.keys[hop.source], [panel.keys[end] for end in hop.leads_to]
        visible["wire", source, *targets] = 1.0 if any((source, end) in wires for end in targets) else gone
    for choice in panel.choices:
        there = choice.key in choices
        open_zero = not choice.has_zero or any(inner_name(use, choice.zero) in scene.kept for use in left)
        visible["head", choice.key] = visible["lead", choice.key] = 1.0 if there else gone
        visible["zero", choice.key] = 0.0 if scene.is_derived else 1.0 if there and open_zero else gone
        for strand in choice.strands:
            visible["candidate", strand.gate] = round(strengths.get(strand.gate, gone) * 20) / 20
    return visible


def _columns(scenes: Sequence[Scene]) -> list[tuple[str, float]]:
    """The numbers that some scene has, and the width of each."""
    names = dict.fromkeys(name for scene in scenes for name in scene.numbers)
    texts = {name: [scene.numbers.get(name, "") for scene in scenes] for name in names}
    return [
        (name, max([text_width(name, SMALL), *(text_width(text, NUMBER_SIZE, bold=True) for text in texts[name])]))
        for name in names
    ]


def _only(number: int, count: int) -> Visible:
    """Visible in one frame."""
    return tuple(1.0 if at == number else 0.0 for at in range(count))


def _timing(count: int) -> Timing:
    """The same time for every frame, and more for the last."""
    step = min(LONGEST_UPDATE, max(SHORTEST_UPDATE, UPDATES / max(1, count - 1)))
    return Timing((*[step] * (count - 1), HOLD))
