"""The size of a space: its architectures, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bayesnas_graph import passes
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.passes.analysis import (
    CostRange,
    NetworkCount,
    StepMemory,
    cost,
    extremes,
    networks,
    step_memory,
    switches,
)


@dataclass(frozen=True)
class SpaceStats:
    """The architectures of a network, and the costs of all its candidates together and of single architectures."""

    network: str
    inputs: tuple[str, ...]  # types
    outputs: tuple[str, ...]
    arguments: Mapping[str, str]  # the values of the parameters of the network
    architectures: int  # settings of all switches
    networks: NetworkCount  # distinct and connected
    choices: int
    choice_uses: int  # counted in every use of a cell, as are those of switches
    switches: int
    switch_uses: int
    operations: int
    edges: int
    parameters: int  # with all candidates
    flops: int  # multiply-adds per sample with all candidates
    flops_at_least: bool  # whether there are more, in Python operations that cannot be counted
    architecture_parameters: CostRange  # of the smallest and the largest architecture
    architecture_flops: CostRange
    memory: StepMemory  # of a training step with all candidates
    budgets: tuple[str, ...]  # that the network requires
    conditions: tuple[str, ...]  # on edges


def space_stats(network: Network) -> SpaceStats:
    """Count the architectures of a network and their costs. Raises NasError if none meets what it requires."""
    graph, block = network.graph(), network.block
    counted, costs, ends = switches(graph), cost(graph), extremes(graph)
    return SpaceStats(
        network=network.name,
        inputs=tuple(map(show, network.inputs)),
        outputs=tuple(map(show, network.outputs)),
        arguments={name: show(value) for name, value in network.arguments},
        architectures=counted.settings,
        networks=networks(graph),
        choices=counted.choices,
        choice_uses=block.choices,
        switches=counted.candidates,
        switch_uses=counted.gates,
        operations=block.nodes,
        edges=block.edges,
        parameters=costs.parameters,
        flops=costs.flops,
        flops_at_least=costs.flops_at_least,
        architecture_parameters=ends.parameters,
        architecture_flops=ends.flops,
        memory=step_memory(passes.run(graph, (*passes.SWITCHES, *passes.FASTER))),
        budgets=tuple(map(str, network.budgets)),
        conditions=tuple(dict.fromkeys(map(str, graph.constraints))),
    )
