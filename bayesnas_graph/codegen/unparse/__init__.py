"""A fixed graph as a file of the language, and the correspondence of its nodes to those of that file."""

from bayesnas_graph.codegen.unparse.correspondence import correspondence
from bayesnas_graph.codegen.unparse.source import Place, unparse

__all__ = ["Place", "correspondence", "unparse"]
