"""Graph to graph: one pass per file, named after what it does; the order is one tuple."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.drop_unused import drop_unused
from bayesnas_graph.passes.fuse_siblings import fuse_siblings
from bayesnas_graph.passes.group_switches import Mode, group_switches
from bayesnas_graph.passes.infer_shapes import infer_shapes
from bayesnas_graph.passes.insert_zero_identity import insert_zero_identity
from bayesnas_graph.passes.lighten import lighten
from bayesnas_graph.passes.merge_common_subexpressions import merge_common_subexpressions
from bayesnas_graph.passes.narrow import Narrowed, Place, narrow
from bayesnas_graph.passes.plain import plain
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from bayesnas_graph.passes.rescale_gates import Rescaled, rescale_gates
from bayesnas_graph.passes.split_dilated import split_dilated
from bayesnas_graph.passes.verify import verify

Pass = Callable[[Graph], Graph]
DeviceKind = Literal["cpu", "cuda"]

# Values in a batch beyond which a CPU computes siblings faster one by one: `benchmarks/fusion_sites.py` prints
# the table. On a GPU calls are dear and wide calls cheap.
LARGEST_SIBLING = 2**17

__all__ = [
    "DeviceKind",
    "Disconnected",
    "Misfit",
    "Mode",
    "Narrowed",
    "Pass",
    "Place",
    "Rescaled",
    "drop_unused",
    "faster",
    "fuse_siblings",
    "group_switches",
    "infer_shapes",
    "insert_zero_identity",
    "lighten",
    "merge_common_subexpressions",
    "narrow",
    "passes",
    "plain",
    "prune",
    "rescale_gates",
    "run",
    "split_dilated",
    "verify",
]


def passes(
    *,
    zero: Literal["before", "after"] = "after",
    mode: Mode = "written",
    fuse: bool = True,
    device: DeviceKind = "cpu",
    batch: int = 64,
) -> tuple[Pass, ...]:
    """The way from an elaborated graph to one that can be lowered.

    `device` and `batch` say where and on how many samples at a time the network will run: what it computes
    does not depend on them, only how fast.
    """
    order: tuple[Pass, ...] = (
        infer_shapes,
        partial(insert_zero_identity, where=zero),
        partial(group_switches, mode=mode),
    )
    return (*order, *faster(device, batch)) if fuse else order


def faster(device: DeviceKind = "cpu", batch: int = 64) -> tuple[Pass, ...]:
    """The passes that change how a network is computed, and not what."""
    split: tuple[Pass, ...] = (split_dilated,) if device == "cpu" else ()
    largest = max(1, LARGEST_SIBLING // batch) if device == "cpu" else None
    return (*split, merge_common_subexpressions, partial(fuse_siblings, largest=largest), lighten)


def run(graph: Graph, order: Sequence[Pass]) -> Graph:
    """Apply passes one after another, each result checked."""
    for step in order:
        graph = step(graph)
        verify(graph)
    return graph
