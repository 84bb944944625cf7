"""A fixed graph as a file of the language, and which of its nodes are which when that is read."""

from bayesnas_graph.unparse.correspondence import correspondence
from bayesnas_graph.unparse.source import unparse

__all__ = ["correspondence", "unparse"]
