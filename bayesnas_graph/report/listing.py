"""Source listings with line numbers and marks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.report.highlight import Language, highlight_lines
from bayesnas_graph.report.line_marks import UNMARKED, LineMark, Marks

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_BYTES = 2**20  # of a file
MAX_LINES = 20_000
MORE = "... and more"
SIGNS = {"kept": "+", "partly": "~", "gone": "−", None: ""}
LABELS = {"kept": "kept", "partly": "partly kept", "gone": "removed", None: ""}


@dataclass(frozen=True)
class ListingLine:
    """A line of a listing."""

    code: Markup
    mark: LineMark = UNMARKED

    @property
    def sign(self) -> str:
        """The mark: `+`, `~ 5/24` or `−`."""
        return sign_of(self.mark)

    @property
    def label(self) -> str:
        """The mark in words."""
        return LABELS[self.mark.state]

    @property
    def notes(self) -> str:
        """The tooltip of the mark."""
        return "\n".join(self.mark.notes)


@dataclass(frozen=True)
class Listing:
    """A text that can be copied and saved."""

    key: str  # its anchor
    title: str
    name: str  # file name for saving
    lines: tuple[ListingLine, ...]
    widest: int = 0  # the width of the longest mark that a script may show, in characters

    @staticmethod
    def of(key: str, title: str, text: str, language: Language, marks: Marks | None = None, widest: int = 0) -> Listing:
        """A listing of a text, with the marks for its title."""
        code = highlight_lines(_truncate(text.removesuffix("\n")), language)
        lines = (ListingLine(line, (marks or {}).get((title, number), UNMARKED)) for number, line in enumerate(code, 1))
        return Listing(key, title, Path(title).name or "text", tuple(lines), widest)

    @property
    def is_marked(self) -> bool:
        """Whether any line has a mark."""
        return any(line.mark.state for line in self.lines)

    @property
    def margin(self) -> int:
        """The width of the longest mark in characters."""
        return max((self.widest, *(len(line.sign) for line in self.lines)))


def sign_of(mark: LineMark) -> str:
    """A mark as a few characters: `+`, `~ 5/24` or `−`."""
    sign = SIGNS[mark.state]
    return f"{sign} {mark.kept}/{mark.of}" if mark.state == "partly" else sign


def file_text(path: Path) -> str | None:
    """The text of a file, truncated if it is large; None if it cannot be read."""
    try:
        if path.is_symlink() or not path.is_file():  # a link could leak a file from elsewhere into a shared page
            return None
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    text = content[:MAX_BYTES].decode("utf-8-sig", "replace")
    return f"{text}\n{MORE}" if len(content) > MAX_BYTES else text


def _truncate(text: str) -> str:
    lines = text.split("\n", MAX_LINES)
    return "\n".join([*lines[:MAX_LINES], MORE]) if len(lines) > MAX_LINES else text
