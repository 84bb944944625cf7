"""Text to syntax tree, and back to well-laid-out text."""

from bayesnas_graph.language.syntax.format import format_source
from bayesnas_graph.language.syntax.parse import parse
from bayesnas_graph.language.syntax.words import reserved_words

__all__ = ["format_source", "parse", "reserved_words"]
