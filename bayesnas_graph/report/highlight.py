"""Syntax highlighting: source text as HTML lines."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from markupsafe import Markup

Language = Literal["nas", "python", "text"]
MAX_COLOURED = 200_000  # characters; longer texts are shown without colours

# Invisible characters, and those that change the direction of text, are replaced by visible ones.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_HIDDEN = (*range(0x7F, 0xA0), 0x00AD, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
_VISIBLE = {**_PICTURES, **dict.fromkeys(_HIDDEN, 0xFFFD), **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)}


def highlight_lines(text: str, language: Language) -> list[Markup]:
    r"""Return the highlighted lines of a text, without line ends.

    >>> [str(line) for line in highlight_lines("in x // a < b\nout x", "nas")]
    ['<span class="k">in</span> x <span class="c">// a &lt; b</span>', '<span class="k">out</span> x']
    """
    from markupsafe import Markup, escape

    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_VISIBLE)
    lines: list[list[Markup]] = [[]]
    for css, tokens in groupby(_tokens(text, language if len(text) <= MAX_COLOURED else "text"), key=itemgetter(1)):
        for number, part in enumerate("".join(token for token, _ in tokens).split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(Markup('<span class="{}">{}</span>').format(css, part) if css else escape(part))
    return [Markup("").join(line) for line in lines]


def _tokens(text: str, language: Language) -> Iterable[tuple[str, str]]:
    """The tokens of a text with their CSS classes, which may be empty."""
    if language == "text":
        return [(text, "")]
    return ((token, _css_class(kind)) for kind, token in _lexer(language).get_tokens(text))


@cache
def _lexer(language: Literal["nas", "python"]) -> Any:
    from pygments.lexers.python import PythonLexer

    return (PythonLexer if language == "python" else _nas_lexer())(stripnl=False, ensurenl=False)


def _nas_lexer() -> type[Any]:
    from bayesnas_graph.report.pygments_lexer import NasLexer

    return NasLexer


@cache
def _css_class(kind: Any) -> str:
    """The class of a kind of token in `code.css`."""
    from pygments import token as of

    classes = (
        (of.String.Doc, "d"),
        (of.Comment, "c"),
        (of.String, "s"),
        (of.Keyword.Constant, "n"),
        (of.Operator.Word, "k"),
        (of.Keyword, "k"),
        (of.Number, "n"),
        (of.Name.Function, "f"),
        (of.Name.Class, "f"),
        (of.Name.Decorator, "f"),
        (of.Error, "e"),
    )
    return next((css for wider, css in classes if kind in wider), "")
