"""Tells Pygments how to highlight `.nas`. An installed package does so by its entry point; a checkout may lack one."""

from __future__ import annotations

from pygments.lexers import LEXERS

from bayesnas_graph.report.pygments_lexer import NasLexer


def register_lexer() -> None:
    LEXERS["NasLexer"] = (NasLexer.__module__, NasLexer.name, tuple(NasLexer.aliases), tuple(NasLexer.filenames), ())
