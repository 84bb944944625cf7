"""Patterns: the groups of weights they define, and the layers they apply to."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import ConvTranspose, Input
from bayesnas_graph.ir.ops.convolution import Conv, Depthwise
from bayesnas_graph.ir.ops.linear import Linear
from bayesnas_graph.train.compress.groups import Groups, groups_of
from bayesnas_graph.train.compress.patterns import KINDS, OF_MATRICES, PATTERNS, chosen_for, named
from tests.helpers import body, graph
from tests.train.compress.small import SMALL, net, random_weights

Key = tuple[int, ...]

# What the entries of a group share, said once more: filter, channel, row, column.
SHARE = {
    "shape": ["cmk"],
    "row": ["cm"],
    "column": ["ck"],
    "row+column": ["cm", "ck"],
    "channel": ["c"],
    "group-shape": ["mk"],
    "group-row": ["m"],
    "group-column": ["k"],
    "group-row+column": ["m", "k"],
    "filter": ["n"],
}
OF_A_MATRIX = {  # whose kernel has one row and one column
    "shape": ["c"],
    "row": ["n"],
    "column": ["c"],
    "row+column": ["n", "c"],
    "channel": ["c"],
    "group-shape": [""],
    "group-row": [""],
    "group-column": [""],
    "group-row+column": [""],
    "filter": ["n"],
}


@st.composite
def layers(draw: st.DrawFn) -> Graph:
    """A single layer with a reader: a convolution (possibly grouped or depthwise) or a linear layer."""
    numbers = st.integers(1, 4)
    kind, parts = draw(st.sampled_from(("conv", "conv_transpose", "depthwise", "linear"))), draw(st.integers(1, 3))
    channels, filters, k = parts * draw(numbers), parts * draw(numbers), draw(numbers)
    shape = (channels,) if kind == "linear" else (channels, 5, 5)
    op: Conv | ConvTranspose | Depthwise | Linear = Linear(filters)
    if kind == "conv":
        op = Conv(filters, k, groups=parts)
    elif kind == "depthwise":
        op = Depthwise(k, multiplier=parts)
    elif kind == "conv_transpose":
        op = ConvTranspose(filters, (k, 2), stride=2)
    layer = Node("layer", op, op.shape(shape))
    reader = Conv(2, 1) if len(shape) == 3 else Linear(2)
    nodes = [Node("x", Input(), shape), layer, Node("reader", reader, reader.shape(layer.shape))]
    return Graph("net", nodes, [Edge("x", "layer", 0), Edge("layer", "reader", 0)], ["reader"])


def by_hand(found: Graph, weight: Tensor, shares: str) -> dict[Key, list[Key]]:
    """Shared key -> entries. A channel is a channel of the input, whichever layer reads it."""
    channels = found["x"].shape[0]
    is_transposed = found["layer"].op.name == "conv_transpose"
    groups = 1 if is_transposed else channels // weight.shape[1]
    filters = weight.shape[0] // groups
    members = defaultdict(list)
    for entry in product(*map(range, weight.shape)):
        n, c, m, k = (*entry, 0, 0)[:4]
        if is_transposed:
            n, c = c, n
        of = {"n": n, "c": c if is_transposed else n // filters * weight.shape[1] + c, "m": m, "k": k}
        members[tuple(of[letter] for letter in shares)].append(entry)
    return dict(sorted(members.items()))


def only(found: Graph, pattern: str) -> list[Groups]:
    return [some for some in groups_of(found, dict.fromkeys(KINDS, pattern)) if some.layer == "layer"]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=25)
@given(found=layers(), seed=st.integers(0, 2**16))
def test_groups_are_those_of_the_entries_one_by_one(pattern: str, found: Graph, seed: int) -> None:
    weight = random_weights(found, seed)["layer"]["weight"]
    wanted = (OF_A_MATRIX if weight.ndim == 2 else SHARE)[pattern]
    sets = only(found, pattern)
    assert [some.shares for some in sets] == wanted
    for some in sets:
        members = by_hand(found, weight, some.shares)
        assert sorted(entry for entries in members.values() for entry in entries) == [
            *product(*map(range, weight.shape))
        ], "it is a partition"
        alone = replace(some, companions=())  # without its bias
        sums = alone.sums(lambda *_: weight).flatten()
        by_loops = [sum(float(weight[entry]) for entry in entries) for entries in members.values()]
        torch.testing.assert_close(sums, torch.tensor(by_loops, dtype=weight.dtype))
        norms = alone.norms({"layer": {"weight": weight}}).flatten()
        torch.testing.assert_close(norms, alone.sums(lambda *_: weight**2).flatten().sqrt())


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=25)
@given(found=layers(), seed=st.integers(0, 2**16))
def test_to_spread_is_the_adjoint_of_to_sum(pattern: str, found: Graph, seed: int) -> None:
    weights = random_weights(found, seed)
    for some in only(found, pattern):
        sums = some.sums(lambda node, name: weights[node][name])
        numbers = torch.randn(sums.shape, generator=torch.Generator().manual_seed(seed), dtype=sums.dtype)
        spread = list(some.spread(numbers, weights))
        assert [(node, name) for node, name, _ in spread] == [*some.tensors]
        assert all(part.shape == weights[node][name].shape for node, name, part in spread)
        apart = sum(float((part * weights[node][name]).sum()) for node, name, part in spread)
        assert apart == pytest.approx(float((numbers * sums).sum()))


def test_names_lead_back() -> None:
    for name, shares in PATTERNS.items():
        if len(shares) == 1:
            assert named("conv", shares[0]) == named("depthwise", shares[0]) == name
    for name in ("row", "column"):
        assert named("linear", OF_MATRICES[name][0]) == name


# ------------------------------------------------------------------------------------ which layers


def test_by_kind() -> None:
    found = chosen_for(graph(SMALL), {"conv": "filter, shape", "linear": "none"})
    assert {name: patterns for name, patterns in found.items() if name.startswith("linear")} == {
        "linear": (),
        "linear_2": (),
    }
    assert {patterns for name, patterns in found.items() if "conv" in name} == {("filter", "shape")}


def test_names_and_motifs_before_kinds_and_the_last_wins() -> None:
    kinds = {"conv": "filter", "linear": "row"}
    layers = {name: patterns for name, patterns in chosen_for(graph(SMALL), kinds).items() if "conv" in name}
    inside = [name for name in layers if "residual" in name]
    assert len(inside) == 2
    assert len(layers) == 4
    outside = sorted(layers.keys() - set(inside))

    def chosen(**more: str) -> dict[str, tuple[str, ...]]:
        return chosen_for(graph(SMALL), {**more, **kinds})

    assert chosen(linear_2="none")["linear_2"] == ()
    assert chosen(linear_2="none")["linear"] == ("row",)
    (motif,) = (scope.name for scope in graph(SMALL).scopes if scope.name.endswith("residual"))
    by_motif = chosen(**{motif: "shape"})
    assert {by_motif[name] for name in inside} == {("shape",)}
    assert {by_motif[name] for name in outside} == {("filter",)}
    by_glob = chosen(**{"*conv_2": "row", outside[0]: "column"})
    assert {name for name, patterns in by_glob.items() if patterns == ("row",)} >= {
        name for name in inside if name.endswith("conv_2")
    }
    assert by_glob[outside[0]] == ("column",)
    assert chosen(**{motif: "shape", inside[0]: "none"})[inside[0]] == ()
    assert chosen(**{inside[0]: "none", motif: "shape"})[inside[0]] == ("shape",)


def test_both_of_a_pair_and_several_are_each_there_once() -> None:
    found = net("x -> out : conv(4) > relu > flatten > linear(5)")
    sets = groups_of(found, {"conv": "row, row+column,shape", "linear": "channel,column,group-row,group-column"})
    assert [some.name for some in sets] == ["conv/cm", "conv/ck", "conv/cmk", "linear/c", "linear/"]


@pytest.mark.parametrize(
    ("chosen", "message", "help"),
    [
        ({"conv": "filters"}, "unknown pattern `filters` for `conv`", "did you mean `filter`?"),
        ({"conv": "filter,"}, "unknown pattern `` for `conv`", "known patterns: shape, row, "),
        ({"conv": "something"}, "unknown pattern `something` for `conv`", "known patterns: shape, row, "),
        ({"linaer": "row"}, "unknown layer `linaer`", "did you mean `linear`?"),
        ({"b*": "row"}, "unknown layer `b*`", "the layers are `y.conv`, `y.residual.h.x.conv`, ..."),
    ],
)
def test_what_there_is_not(chosen: dict[str, str], message: str, help: str) -> None:
    with pytest.raises(NasError) as error:
        chosen_for(graph(SMALL), chosen)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS620"
    assert diagnostic.message == message
    assert (diagnostic.help or "").startswith(help)


@pytest.mark.parametrize(
    ("pattern", "summed"),
    [("shape", 0), ("column", 0), ("row", (0, 2)), ("channel", (0, 2)), ("filter", (1, 2)), ("group-shape", (0, 1))],
)
def test_groups_of_a_convolution_of_sequences(pattern: str, summed: int | tuple[int, ...]) -> None:
    """Its kernel has one row."""
    text = "x -> out : conv1d(4, 3) > conv1d(5, 3) > global_avg_pool > linear(2)"
    (found,) = groups_of(graph(body(text, "sequence(3, 8) -> classes(2)")), {"conv1d": "none", "conv1d_2": pattern})
    weight = torch.randn(5, 4, 3)
    torch.testing.assert_close(found.sums(lambda node, name: weight).flatten(), weight.sum(summed).flatten())
