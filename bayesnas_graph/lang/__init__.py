"""Text to syntax tree, and back to well-laid-out text."""

from bayesnas_graph.lang.parse import parse

__all__ = ["parse"]
