"""Smaller networks that compute the same."""

from bayesnas_graph.passes.shrink.network import Shrunk, shrink

__all__ = ["Shrunk", "shrink"]
