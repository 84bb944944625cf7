"""A Pygments lexer of `.nas`. Other programs find it by the entry point `pygments.lexers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text, _TokenType

from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import reserved_words
from bayesnas_graph.language.syntax.lexer import tokenize

__all__ = ["NasLexer"]  # where Pygments looks

KINDS: dict[str, _TokenType] = {
    "FILE_DOC": String.Doc,
    "DOC": String.Doc,
    "COMMENT": Comment,
    "OPEN_COMMENT": Comment,
    "STRING": String,
    "OPEN_STRING": Error,
    "STRAY": Error,
    "NUMBER": Number,
    "BOOLEAN": Keyword.Constant,
    "SPACE": Text,
    "COMPARE": Operator,
    "SIGN": Operator,
    "TIMES": Operator,
}


class NasLexer(Lexer):
    """Uses the tokens of the grammar.

    >>> [token for kind, token in NasLexer().get_tokens("in x") if kind is Keyword]
    ['in']
    """

    name = "NAS"
    aliases: ClassVar[list[str]] = ["nas"]
    filenames: ClassVar[list[str]] = ["*.nas"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        tokens = list(tokenize(Source("", text)))
        for i, token in enumerate(tokens):
            if token in reserved_words() and token.type != "NAME":
                kind = KINDS.get(token.type, Keyword)
            elif token.type == "NAME":
                is_called = i + 1 < len(tokens) and tokens[i + 1] == "("
                kind = Name.Function if is_called else Name
            else:
                kind = KINDS.get(token.type, Punctuation)
            yield token.start_pos or 0, kind, str(token)
