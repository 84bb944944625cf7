"""Narrowed networks keep the right weights: they compute the same."""

from __future__ import annotations

import pytest
import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import transfer
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.passes.analysis import cuts
from tests.helpers import body, graph

CLASSES = "image(3, 8, 8) -> classes(5)"
HEADS = {
    "convolution": "concat(h) -> out : conv(4, bias = true) > global_avg_pool > linear(5)",
    "depthwise": "concat(h) -> out : relu > depthwise(3) > conv(4, 1) > global_avg_pool > linear(5)",
    "pools": "concat(h) -> out : max_pool(3, 2) > avg_pool(2, padding = 0) > conv(4, 1) > global_avg_pool > linear(5)",
    "flattened": "concat(h) -> out : flatten > linear(5)",
    "pooled": "concat(h) -> out : global_avg_pool > linear(5)",
    "concatenated again": "concat(h[1], concat(h), h[0]) -> out : conv(4) > global_avg_pool > linear(5)",
    "added up": "node a = concat(h) node b = concat(h) node c a, b -> c c -> out : conv(4) > flatten > linear(5)",
}


def narrowed(text: str, off: set[str], *, fuse: bool) -> tuple[Supernet, Supernet]:
    """A network with some gates at zero and its pruned form, in float64 and evaluation mode."""
    whole = passes.run(graph(body(text, CLASSES)), passes.SWITCHES)
    left = passes.prune(whole, off)
    torch.manual_seed(0)
    one, two = (Supernet.of(found, batch=2, fuse=fuse) for found in (whole, left))
    one.module.double().eval()
    two.module.double().eval()
    gates = torch.rand(len(one.names), dtype=torch.float64) + 0.5
    groups = {gate.name: gate.group for gate in whole.gates}
    one.set_gates(
        torch.tensor([0.0 if groups[n] in off else float(g) for n, g in zip(one.names, gates, strict=True)]).double()
    )
    two.module.load_state_dict(transfer(one.module.state_dict(), one.program, two.program, cuts(whole, left)))
    return one, two


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("closed", ["h.0", "h.1", "h.2"])
@pytest.mark.parametrize("head", HEADS)
def test_what_is_left_computes_what_the_whole_did(head: str, closed: str, fuse: bool) -> None:
    text = f"node h[3] for j in 0..3 {{ x -> h[j] : choose {{ conv(4 + j), conv(4 + j, 1) }} }} {HEADS[head]}"
    off = {f"{closed}.conv_3", f"{closed}.conv_1", f"{closed}.zero"}
    one, two = narrowed(text, off, fuse=fuse)
    assert sum(p.numel() for p in two.module.parameters()) < sum(p.numel() for p in one.module.parameters())
    x = torch.randn(2, 3, 8, 8, dtype=torch.float64)
    torch.testing.assert_close(two.module(x), one.module(x))


def test_norms_keep_the_statistics_of_what_is_left() -> None:
    choices = "node h[2] for j in 0..2 { x -> h[j] : choose { conv(2), conv(2, 1) } }"
    text = f"{choices} concat(h) -> out : bn > flatten > linear(5)"
    whole = passes.run(graph(body(text, CLASSES)), passes.SWITCHES)
    left = passes.prune(whole, {"h.0.conv_3", "h.0.conv_1", "h.0.zero"})
    found = {name: some for name, some in cuts(whole, left).items() if "bn" in name or "batch_norm" in name}
    (norm,) = found.values()
    assert {(cut.name, cut.entries) for cut in norm} >= {("running_mean", (2, 3)), ("weight", (2, 3))}


def test_nothing_is_cut_where_nothing_is_narrower() -> None:
    whole = passes.run(graph(body("node y x -> y : choose { conv(), identity } y -> out : relu")), passes.SWITCHES)
    left = passes.prune(whole, {"y.conv"})
    assert len(left) < len(whole)
    assert cuts(whole, left) == {}
