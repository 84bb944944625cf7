"""Random weights that do not depend on which siblings were found to be faster fused."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import Emitted, build, emit, transfer
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
    with torch.random.fork_rng(devices=[]):
        module = build(program)
    module.load_state_dict(transfer(start, table, program))
    return module
