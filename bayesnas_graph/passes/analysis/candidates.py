"""What every switch of a space stands for, in weights and multiply-adds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.cost import Cost, cost_of


def cost_by_switch(graph: Graph) -> dict[str, Cost]:
    """The cost of the operations that stand behind each switch, in all uses of its cell together.

    They are known by their names: those of a candidate begin with that of its gate, and a zero switch stands for all
    that is named after its choice.
    """
    groups = {gate.name: gate.group for gate in graph.gates}
    found = dict.fromkeys(groups.values(), Cost(0, 0, 0))
    for node in graph:
        for gate in _gates_around(node.name):
            if gate in groups:
                found[groups[gate]] += cost_of(graph, node)
    return found


def _gates_around(name: str) -> Iterator[str]:
    """What gates would be called that a node stands behind; a candidate's second operation of a name has a number.

    >>> list(_gates_around("h.0.conv_2"))
    ['h.0.conv_2', 'h.0.conv_2.zero', 'h.0.conv', 'h.0', 'h.0.zero', 'h', 'h.zero']
    """
    while name:
        yield from (name, f"{name}.zero")
        if (unnumbered := re.sub(r"_\d+$", "", name)) != name:
            yield unnumbered
        name = name.rpartition(".")[0]
