"""Graph to Python source: a class per kind of motif, a line per operation."""

from bayesnas_graph.codegen.emit.module import build, build_for_weights
from bayesnas_graph.codegen.emit.source import Emitted, Slot, emit
from bayesnas_graph.codegen.emit.weights import as_state, by_gate, by_node, rescaled, transfer

__all__ = [
    "Docs",
    "Emitted",
    "Slot",
    "as_state",
    "build",
    "build_for_weights",
    "by_gate",
    "by_node",
    "emit",
    "rescaled",
    "transfer",
]
