"""Graphs as networks that run."""

from bayesnas_graph.codegen.supernet.drawn import DrawnNetwork
from bayesnas_graph.codegen.supernet.moments import Moments
from bayesnas_graph.codegen.supernet.network import Supernet
from bayesnas_graph.codegen.supernet.plan import Opened
from bayesnas_graph.codegen.supernet.reference import ReferenceNetwork
from bayesnas_graph.codegen.supernet.regions import compile_regions
from bayesnas_graph.codegen.supernet.rest import at_rest

__all__ = ["DrawnNetwork", "Moments", "Opened", "ReferenceNetwork", "Supernet", "at_rest", "compile_regions"]
