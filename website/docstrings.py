"""Docstrings as Markdown: their examples become blocks of code, and comments behind fields their documentation."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*\n?(?:(?!\n).*\n?)*", re.MULTILINE)


class Examples(griffe.Extension):
    """An extension of Griffe, which reads the sources for mkdocstrings."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        comment = field_comment(obj.lines) if obj.is_attribute and obj.parent and obj.parent.is_class else ""
        if obj.docstring is None and comment:
            obj.docstring = griffe.Docstring(comment, parent=obj)
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    r"""Return a docstring with a fence around each of its examples, which end at an empty line.

    >>> fenced("Adds.\n\n>>> 1 + 1\n2").splitlines()
    ['Adds.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", docstring)


def field_comment(lines: list[str]) -> str:
    """Return the comment behind a field, or "".

    >>> field_comment(["    count: int = 0  # of all uses"]), field_comment(['    mark: str = "#"'])
    ('of all uses', '')
    """
    found = re.search(r"  # (.+)$", lines[-1]) if lines else None
    return found[1] if found else ""
