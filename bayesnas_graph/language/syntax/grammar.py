"""The compiled grammar of the language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lark import Lark

from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.language.syntax.tables import Tables
from bayesnas_graph.language.syntax.tree_builder import TreeBuilder

# The last token of an operand.
OPERAND_ENDS = frozenset({"NAME", "NUMBER", "BOOLEAN", "STRING", "RPAR", "RSQB", "RBRACE", "OUT"})


class _KeepErrorTokens:
    """Makes lark keep the terminals that no rule uses: they match invalid text."""

    always_accept = ("OPEN_COMMENT", "OPEN_STRING", "STRAY")

    def process(self, stream: object) -> object:
        return stream


@dataclass(frozen=True)
class Grammar:
    """The compiled grammar, its parse tables, and the builder that a parser calls."""

    lark: Lark
    tables: Tables
    builder: TreeBuilder


@cache
def load_grammar() -> Grammar:
    """The grammar, compiled once per process."""
    builder = TreeBuilder()
    lark = Lark(
        (folder("grammars") / "nas.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        start="item",
        transformer=builder,
        postlex=_KeepErrorTokens(),
        keep_all_tokens=True,
        maybe_placeholders=False,
    )
    return Grammar(lark, Tables.of(lark), builder)


@dataclass(frozen=True, slots=True)
class Scanner:
    """One pattern for all tokens, whose group names are their types, and texts that are tokens of another type."""

    pattern: re.Pattern[str]
    exceptions: Mapping[str, Mapping[str, str]]  # by type and text: `in` is not a NAME


@cache
def scanner() -> Scanner:
    """The tokens of the grammar, as lark finds them."""
    lexer: Any = load_grammar().lark._build_lexer(dont_ignore=True)
    (pattern,) = lexer.scanner._mres
    exceptions = {
        kind: {text.pattern.value: text.name for text in callback.scanner.terminals}
        for kind, callback in lexer.callback.items()
    }
    return Scanner(pattern, exceptions)


@cache
def token_texts() -> dict[str, str]:
    """The text of each token type that is always written the same way: keywords and symbols."""
    return {t.name: str(t.pattern.value) for t in load_grammar().lark.terminals if t.pattern.type == "str"}


@cache
def reserved_words() -> frozenset[str]:
    """The words that cannot be used as names."""
    return frozenset(text for text in token_texts().values() if text.isidentifier()) | {"true", "false"}
