"""How visible the parts of a movie are from frame to frame, as rules of CSS.

Parts that change alike share a class. Without animations, such as in a converter, a part looks as in the last frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

Visible = tuple[float, ...]  # opacities, one for each frame

FADE = 0.3  # seconds


@dataclass(frozen=True)
class Timing:
    """How long each frame is shown, in seconds."""

    seconds: tuple[float, ...]

    @property
    def total(self) -> float:
        """The length of the movie."""
        return sum(self.seconds)

    @property
    def starts(self) -> tuple[float, ...]:
        """When each frame begins."""
        return (0.0, *accumulate(self.seconds[:-1]))


@dataclass(frozen=True)
class Motion:
    """Everything that changes: each way in which parts change has a class."""

    timing: Timing
    ways: tuple[tuple[Visible, bool], ...]  # and whether the parts fade, instead of changing at once

    @staticmethod
    def of(timing: Timing, fading: Sequence[Visible], sudden: Sequence[Visible] = ()) -> Motion:
        """The motion of parts that fade, and of parts that change at once."""
        ways = [(way, True) for way in fading] + [(way, False) for way in sudden]
        return Motion(timing, tuple(dict.fromkeys(way for way in ways if set(way[0]) != {1.0})))

    def class_of(self, way: Visible, *, fades: bool = True) -> str:
        """The class of a part; empty if it is always visible."""
        return "" if set(way) == {1.0} else f"m{self.ways.index((way, fades))}"

    def animated(self) -> str:
        """The rules of the movie. For readers who want less motion, it stands still at its last frame."""
        lines = []
        for number, (way, fades) in enumerate(self.ways):
            pace = "linear" if fades else "step-end"
            play = f"m{number} {self.timing.total:g}s {pace} infinite"
            lines.append(f".m{number} {{ opacity: {way[-1]:g}; animation: {play}; }}")
            lines.append(f"@keyframes m{number} {{ {' '.join(self._keyframes(way, fades=fades))} }}")
        lines.append("@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }")
        return "\n".join(lines) + "\n"

    def still(self, frame: int) -> str:
        """The rules of one frame."""
        return "".join(f".m{number} {{ opacity: {way[frame]:g}; }}\n" for number, (way, _) in enumerate(self.ways))

    def _keyframes(self, way: Visible, *, fades: bool) -> Iterator[str]:
        yield f"0% {{ opacity: {way[0]:g} }}"
        for start, before, after in zip(self.timing.starts[1:], way, way[1:], strict=False):
            if before == after:
                continue
            if fades:
                yield f"{self._at(start)} {{ opacity: {before:g} }}"
                yield f"{self._at(start + FADE)} {{ opacity: {after:g} }}"
            else:
                yield f"{self._at(start)} {{ opacity: {after:g} }}"
        yield f"100% {{ opacity: {way[-1]:g} }}"

    def _at(self, second: float) -> str:
        return f"{100 * second / self.timing.total:.2f}%"
