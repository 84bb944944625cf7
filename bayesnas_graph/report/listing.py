"""Texts to look at, to copy and to save: numbered lines with marks beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.report.highlight import Language, highlighted
from bayesnas_graph.report.survival import UNMARKED, LineMark, Marks

if TYPE_CHECKING:
    from markupsafe import Markup

LARGEST = 2**20  # bytes of a file that are shown
LONGEST = 20_000  # lines of it
MORE = "... and more"
SIGNS = {"kept": "+", "partly": "~", "gone": "−", None: ""}
WORDS = {"kept": "kept", "partly": "kept in part", "gone": "gone", None: ""}


@dataclass(frozen=True)
class Line:
    """A line of a listing."""

    code: Markup
    mark: LineMark = UNMARKED

    @property
    def sign(self) -> str:
        """The mark without colours: `+`, `~ 5/24` or `−`."""
        sign = SIGNS[self.mark.state]
        return f"{sign} {self.mark.kept}/{self.mark.of}" if self.mark.state == "partly" else sign

    @property
    def label(self) -> str:
        """The mark in words."""
        return WORDS[self.mark.state]

    @property
    def notes(self) -> str:
        """What is told of it where the pointer rests."""
        return "\n".join(self.mark.notes)


@dataclass(frozen=True)
class Listing:
    """A text to look at, to copy and to save."""

    key: str  # its anchor
    title: str
    name: str  # of the file it is saved as
    lines: tuple[Line, ...]

    @staticmethod
    def of(key: str, title: str, text: str, language: Language, marks: Marks | None = None) -> Listing:
        """A text with the marks that there are under its title."""
        code = highlighted(_cut(text.removesuffix("\n")), language)
        lines = (Line(line, (marks or {}).get((title, number), UNMARKED)) for number, line in enumerate(code, 1))
        return Listing(key, title, Path(title).name or "text", tuple(lines))

    @property
    def is_marked(self) -> bool:
        """Whether there are marks in it."""
        return any(line.mark.state for line in self.lines)

    @property
    def margin(self) -> int:
        """Characters that the longest mark takes."""
        return max((len(line.sign) for line in self.lines), default=0)


def text_of(path: Path) -> str | None:
    """What can be read of a file; None if it is none."""
    try:
        if path.is_symlink() or not path.is_file():  # a page must not carry away what a link leads to
            return None
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError:
        return None
    text = content[:LARGEST].decode("utf-8-sig", "replace")
    return f"{text}\n{MORE}" if len(content) > LARGEST else text


def _cut(text: str) -> str:
    lines = text.split("\n", LONGEST)
    return "\n".join([*lines[:LONGEST], MORE]) if len(lines) > LONGEST else text
