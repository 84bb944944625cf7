"""Graphs as networks that run."""

from bayesnas_graph.codegen.supernet.drawn import DrawnNetwork
from bayesnas_graph.codegen.supernet.moments import Moments
from bayesnas_graph.codegen.supernet.network import Supernet
from bayesnas_graph.codegen.supernet.plan import Opened
from bayesnas_graph.codegen.supernet.reference import ReferenceNetwork
from bayesnas_graph.codegen.supernet.regions import begin_step, compile_regions
from bayesnas_graph.codegen.supernet.rest import at_rest
from bayesnas_graph.codegen.supernet.start import build_fused

__all__ = [
    "DrawnNetwork",
    "Moments",
    "Opened",
    "ReferenceNetwork",
    "Supernet",
    "at_rest",
    "begin_step",
    "build_fused",
    "compile_regions",
]
