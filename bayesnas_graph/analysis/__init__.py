"""Answers about a graph: what it costs, and how many architectures it holds."""

from bayesnas_graph.analysis.cost import Cost, cost
from bayesnas_graph.analysis.settings import Switches, switches

__all__ = ["Cost", "Switches", "cost", "switches"]
