"""Graph to Python source: a class per kind of motif, a line per operation."""

from bayesnas_graph.emit.module import build
from bayesnas_graph.emit.source import Emitted, emit

__all__ = ["Emitted", "build", "emit"]
