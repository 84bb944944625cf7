"""Random weights that do not depend on which siblings were found to be faster fused."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import Emitted, build, build_for_weights, emit, transfer
from bayesnas_graph.ir import Graph


def build_fused(graph: Graph, program: Emitted, options: passes.Options) -> nn.Module:
    """Build a program of a graph that was fused with these options.

    The order of modules in a program decides which random numbers each gets. Where siblings were timed, the program
    that a table would give is built too, and its weights are used: what was measured changes neither the weights nor
    the random numbers that are drawn later.
    """
    if not options.sites:
        return build(program)
    table = emit(passes.run(graph, passes.FASTER, replace(options, sites=())))
    start = build(table).state_dict()
    module = build_for_weights(program)
    module.load_state_dict(transfer(start, table, program))
    return module
