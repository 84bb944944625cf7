"""Locations of keys in a TOML text, which `tomllib` does not report."""

from __future__ import annotations

import re

_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_NAMES = rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*"
_LINE = re.compile(rf"^[ \t]*(?:\[+[ \t]*(?P<table>{_NAMES})[ \t]*\]+|(?P<key>{_NAMES})[ \t]*=(?P<value>.*))", re.M)
_INSIDE = re.compile(rf"[{{,][ \t]*(?P<key>{_NAMES})[ \t]*=(?P<value>[^,}}]*)")
_STRING = r"""\"{3}(?:\\.|[^\\])*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'"""
_QUIET = re.compile(rf"{_STRING}|#[^\n]*", re.DOTALL)

Path = tuple[str, ...]


def find(text: str, path: Path) -> tuple[int, int] | None:
    r"""Return the span of a key with its value, or of the header of its table; None if it is not found.

    >>> text = "# width = 1\n[parameters]\nwidth = 3  # wide"
    >>> start, end = find(text, ("parameters", "width"))
    >>> text[start:end]
    'width = 3'
    """
    quiet = _QUIET.sub(_silenced, text)
    table: Path = ()
    for line in _LINE.finditer(quiet):
        if line["table"]:
            table = _names(text, line, "table")
            if table[: len(path)] == path:
                return line.span("table")
            continue
        key = (*table, *_names(text, line, "key"))
        if key[: len(path)] == path:
            return _extent(line)
        if path[: len(key)] == key:
            rest = path[len(key) :]
            for inner in _INSIDE.finditer(quiet, *line.span("value")):
                if _names(text, inner, "key") == rest:
                    return _extent(inner)
    return None


def _silenced(match: re.Match[str]) -> str:
    """Replace a comment or a string by text of the same length that does not look like a key."""
    text = match[0]
    return " " * len(text) if text[0] == "#" else f"{text[0]}{'_' * (len(text) - 2)}{text[-1]}"


def _names(text: str, match: re.Match[str], group: str) -> Path:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, text[match.start(group) : match.end(group)]))


def _extent(match: re.Match[str]) -> tuple[int, int]:
    return match.start("key"), match.start("value") + len(match["value"].rstrip())
