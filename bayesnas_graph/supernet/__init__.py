"""Graphs that run."""

from bayesnas_graph.supernet.network import Supernet
from bayesnas_graph.supernet.reference import ReferenceNetwork
from bayesnas_graph.supernet.regions import compile_regions

__all__ = ["ReferenceNetwork", "Supernet", "compile_regions"]
