"""Parse text into a syntax tree, and format it."""

from bayesnas_graph.language.syntax.formatter import format_source
from bayesnas_graph.language.syntax.grammar import reserved_words
from bayesnas_graph.language.syntax.parser import parse
from bayesnas_graph.language.syntax.recovery import parse_incomplete

__all__ = ["format_source", "parse", "parse_incomplete", "reserved_words"]
