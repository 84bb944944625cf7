"""Graph transformations: one pass per file, named after what it does, applied in the order of the two tuples below."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.drop_unused import drop_unused
from bayesnas_graph.passes.fuse_parallel import fuse_parallel
from bayesnas_graph.passes.fuse_siblings import fuse_siblings, fusion_sites
from bayesnas_graph.passes.fusion_site import FusionSite
from bayesnas_graph.passes.group_switches import group_switches
from bayesnas_graph.passes.infer_shapes import infer_shapes
from bayesnas_graph.passes.insert_zero_identity import insert_zero_identity
from bayesnas_graph.passes.join_choices import join_choices
from bayesnas_graph.passes.lighten import lighten
from bayesnas_graph.passes.merge_common_subexpressions import merge_common_subexpressions
from bayesnas_graph.passes.narrow import InputSlot, Narrowed, narrow
from bayesnas_graph.passes.options import DEFAULT, DeviceKind, Mode, Options, ZeroSide
from bayesnas_graph.passes.plain import plain
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from bayesnas_graph.passes.rescale_gates import Rescaled, rescale_gates
from bayesnas_graph.passes.split_dilated import split_dilated
from bayesnas_graph.passes.verify import verify

Pass = Callable[[Graph, Options], Graph]

# From an elaborated graph to one with all switches.
SWITCHES: tuple[Pass, ...] = (infer_shapes, insert_zero_identity, group_switches)

# These change how a network is computed, not what it computes.
FASTER: tuple[Pass, ...] = (
    split_dilated,
    merge_common_subexpressions,
    fuse_siblings,
    lighten,
    fuse_parallel,
    join_choices,
)

__all__ = [
    "DEFAULT",
    "FASTER",
    "SWITCHES",
    "DeviceKind",
    "Disconnected",
    "FusionSite",
    "InputSlot",
    "Misfit",
    "Mode",
    "Narrowed",
    "Options",
    "Pass",
    "Rescaled",
    "ZeroSide",
    "drop_unused",
    "fuse_parallel",
    "fuse_siblings",
    "fusion_sites",
    "group_switches",
    "infer_shapes",
    "insert_zero_identity",
    "join_choices",
    "lighten",
    "merge_common_subexpressions",
    "narrow",
    "plain",
    "prune",
    "rescale_gates",
    "run",
    "split_dilated",
    "verify",
]


def run(graph: Graph, order: Sequence[Pass], options: Options = DEFAULT) -> Graph:
    """Apply passes one after another, verifying each result."""
    for step in order:
        graph = step(graph, options)
        verify(graph)
    return graph
