"""The cost of the operations behind every switch."""

from __future__ import annotations

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.cost import Cost, cost_of


def cost_by_switch(graph: Graph) -> dict[str, Cost]:
    """The cost of the operations behind each switch, in all uses of its cell together.

    Behind a zero switch are all candidates of its choice.
    """
    groups = {gate.name: gate.group for gate in graph.gates}
    zeros = {gate.choice: gate.group for gate in graph.gates if gate.is_zero}
    costs = dict.fromkeys(groups.values(), Cost(0, 0, 0))
    for node in graph:
        own_groups = [
            edge.gate.group for edge in graph.inputs(node.name) if edge.gate and edge.gate.kind != "candidate"
        ]
        around = [groups[gate] for gate in node.behind if gate in groups]
        outer = [zeros[choice] for choice in graph.choices_around(node.name) if choice in zeros]
        for group in (*own_groups, *around, *outer):
            costs[group] += cost_of(graph, node)
    return costs
