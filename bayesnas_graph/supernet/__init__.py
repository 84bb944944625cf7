"""Graphs that run."""

from bayesnas_graph.supernet.moments import Moments
from bayesnas_graph.supernet.network import Supernet
from bayesnas_graph.supernet.reference import ReferenceNetwork
from bayesnas_graph.supernet.regions import compile_regions
from bayesnas_graph.supernet.rest import at_rest

__all__ = ["Moments", "ReferenceNetwork", "Supernet", "at_rest", "compile_regions"]
