"""Which switches are one switch."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from bayesnas_graph.ir import Gate, Graph


def group_switches(graph: Graph, mode: Literal["written", "proxyless"] = "written") -> Graph:
    """Group the gates: as the text says, where the uses of a cell share them, or each by itself.

    `written` searches one cell for all its uses, `proxyless` every use on its own.
    """
    if mode == "written":
        return graph
    edges = [replace(e, gate=Gate(e.gate.name, e.gate.name)) if e.gate else e for e in graph.edges]
    return graph.replace(list(graph), edges, graph.outputs)
