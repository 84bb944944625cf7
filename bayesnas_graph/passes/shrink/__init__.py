"""Smaller networks that compute the same values."""

from bayesnas_graph.passes.shrink.network import Shrunk, shrink

__all__ = ["Shrunk", "shrink"]
