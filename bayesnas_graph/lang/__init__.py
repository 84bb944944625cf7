"""Text to syntax tree, and back to well-laid-out text."""

from bayesnas_graph.lang.format import format_source
from bayesnas_graph.lang.parse import parse
from bayesnas_graph.lang.words import reserved_words

__all__ = ["format_source", "parse", "reserved_words"]
