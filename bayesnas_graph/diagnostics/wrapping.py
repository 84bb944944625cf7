"""Lines wrapped between words, and the width of a text in a terminal."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

_STYLE = re.compile(r"\033\[[\d;]*m|\033\]8;[^\033]*\033\\")  # colours and links take no room
_UNIT = re.compile(r"([ \t]*)((?:`[^`]*`|[^ \t`]|`)+)")  # code in backticks is copied, so it stays on one line
_WHOLE = "\N{NO-BREAK SPACE}"
LEAST = 20  # columns for text beside an indent, however narrow the terminal


def columns(text: str) -> int:
    r"""Return the number of terminal columns of a text.

    >>> columns("a\033[1mb\033[0m"), columns("深")
    (2, 2)
    """
    plain = _STYLE.sub("", text) if "\033" in text else text
    return sum(4 if c == "\t" else 2 if east_asian_width(c) in "WF" else 1 for c in plain)


def whole(text: str) -> str:
    """Return a text that `wrapped` does not break, such as a name with spaces.

    >>> wrapped(f"closed {whole('block h[1] <- h[0]')}", 22)
    ['closed', 'block h[1] <- h[0]']
    """
    return text.replace(" ", _WHOLE)


def wrapped(text: str, width: int | None, first: int = 0, rest: int | None = None) -> list[str]:
    """Return a text as lines of at most `width` columns, as far as its words are that short; None is any width.

    `first` columns of the first line are taken, and `rest` columns of the others (default: as many) before they are
    indented.

    >>> wrapped("closed 3 of the 24 switches", 22, rest=2)
    ['closed 3 of the 24', '  switches']
    >>> wrapped("then try `check --json x`, or not", 22)
    ['then try', '`check --json x`, or', 'not']
    """
    indent = first if rest is None else rest
    if width is None:
        return text.replace(_WHOLE, " ").split("\n")
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line, used = "", first
        room = max(width, used + LEAST) if not lines else max(width, indent + LEAST)
        for gap, word in _UNIT.findall(paragraph):
            size = columns(word)
            if line.strip() and used + len(gap) + size > room:
                lines.append(line)
                line, used, room = " " * indent, indent, max(width, indent + LEAST)
                gap = ""
            line, used = line + gap + word.replace(_WHOLE, " "), used + len(gap) + size
        lines.append(line)
        first = indent
    return lines
