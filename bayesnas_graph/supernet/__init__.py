"""Graphs that run."""

from bayesnas_graph.supernet.reference import ReferenceNetwork

__all__ = ["ReferenceNetwork"]
