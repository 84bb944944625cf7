"""A fixed graph as a file of the language, and which of its nodes are which when that is read."""

from bayesnas_graph.codegen.unparse.correspondence import correspondence
from bayesnas_graph.codegen.unparse.source import unparse

__all__ = ["correspondence", "unparse"]
