"""Text from files as Markdown: no links, images or HTML, whatever the file says."""

from __future__ import annotations

import re

from lsprotocol import types

_CODE = re.compile(r"(`[^`\n]*`)")
_SPECIAL = re.compile(r"([\\<>\[\]!*_#|~&`])")


def prose(text: str) -> str:
    r"""Text in which only `code` keeps its meaning.

    >>> print(prose("Like `conv[0]`, see ![it](http://example.org)."))
    Like `conv[0]`, see \!\[it\](http://example.org).
    """
    return "".join(part if _CODE.fullmatch(part) else _SPECIAL.sub(r"\\\1", part) for part in _CODE.split(text))


def code_block(text: str) -> str:
    """Code in the language, in a block that it cannot end."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}nas\n{text}\n{fence}"


def markup(text: str) -> types.MarkupContent:
    """Markdown as the protocol has it."""
    return types.MarkupContent(types.MarkupKind.Markdown, text)
