"""Graph to Python source: a class per kind of motif, a line per operation."""

from bayesnas_graph.emit.module import build
from bayesnas_graph.emit.source import Emitted, Slot, emit
from bayesnas_graph.emit.weights import by_node, transfer

__all__ = ["Emitted", "Slot", "build", "by_node", "emit", "transfer"]
