"""Syntax tree to graph: names resolved, expressions evaluated, motifs expanded, shapes inferred."""

from bayesnas_graph.language.elaborate.files import Module, read
from bayesnas_graph.language.elaborate.limits import Limits
from bayesnas_graph.language.elaborate.load import Loaded, load_network
from bayesnas_graph.language.elaborate.space import Checker, Network, Space
from bayesnas_graph.language.elaborate.text import Text

__all__ = ["Checker", "Limits", "Loaded", "Module", "Network", "Space", "Text", "load_network", "read"]
