"""Channel couplings of operations, against the effect of changing channels and parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from bayesnas_graph.codegen.supernet.reference import ReferenceNetwork
from bayesnas_graph.ir import Coupling, Edge, Graph, Link, Mask, ModuleCall, Node, Op, Shape
from bayesnas_graph.ir.ops import PRIMITIVES, Choice, Conv, Depthwise, Embedding, Input, Maybe, SelectOp, Zero
from bayesnas_graph.ir.ops.build import build_function, build_module
from bayesnas_graph.ir.ops.channels import ChannelShuffle, SliceChannels
from bayesnas_graph.ir.ops.python import PythonOp
from tests.ir.ops.cases import BATCH, CASES, IMAGE, PYTHON, Case, built, title, with_rule

# What a selection depends on, its weights tell, and `test_zeros.py` tests.
TOLD = [case for case in CASES if not isinstance(case[0], SelectOp)]
Taken = set[tuple[int | None, int]]  # removed channels: index of the input (None for the output), and channel


def positive(shapes: tuple[Shape, ...]) -> list[Tensor]:
    """Inputs at which no activation is flat, and every maximum changes with its input."""
    return [torch.rand(BATCH, *shape, dtype=torch.float64) + 0.1 for shape in shapes]


def changed(before: Tensor, after: Tensor) -> set[int]:
    difference = (after - before).abs().transpose(0, 1).flatten(1).amax(1)
    return {channel for channel, largest in enumerate(difference.tolist()) if largest > 1e-9}


@torch.no_grad()
def reached(case: Case, number: int, channel: int) -> set[int]:
    """The output channels that change with an input channel."""
    op, shapes = case
    function, _ = built(op, shapes)
    inputs = positive(shapes)
    before = function(*inputs)
    inputs[number] = inputs[number].clone()
    inputs[number][:, channel] += 1 + 2 * torch.rand_like(inputs[number][:, channel])
    return changed(before, function(*inputs))


@pytest.mark.parametrize("case", TOLD, ids=title)
def test_links_are_what_depends_on_what(case: Case) -> None:
    op, shapes = case
    links = op.coupling(*shapes).links
    assert len(links) == len(shapes)
    outputs = range(op.shape(*shapes)[0])
    for number, (link, shape) in enumerate(zip(links, shapes, strict=True)):
        assert link.before + link.blocks * link.inputs + link.after == shape[0]
        for channel in range(shape[0]):
            found = reached(case, number, channel)
            if op.is_mask:  # a channel that it sets to zero is removed together with that of its input
                found = found or {channel}
            if link.is_interleaved:  # a permutation: all channels of a block are removed together
                assert len(found) == 1
                assert found <= set(link.reached(channel))
                found = set(link.reached(channel))
            assert set(link.reached(channel)) == found
            assert {out for out in outputs if channel in link.read(out)} == found


@pytest.mark.parametrize("case", CASES, ids=title)
@torch.no_grad()
def test_axes_have_an_entry_per_channel(case: Case) -> None:
    """An entry of an output axis affects only that output; of an input axis, only if the input is not 0."""
    op, shapes = case
    function, module = built(op, shapes)
    inputs = [torch.cat([x, -x]) for x in positive(shapes)]  # a weight may count for one sign only
    before = function(*inputs)
    for axis in op.coupling(*shapes).axes:
        assert module is not None
        tensor = module.state_dict()[axis.name]
        kept = tensor.clone()
        for entry in range(tensor.shape[axis.axis]):
            tensor.select(axis.axis, entry).add_(1)
            if axis.follows == "output":
                assert changed(before, function(*inputs)) == {entry}
            else:
                x = inputs[0].clone()
                x[:, entry] = 0
                assert changed(before, function(inputs[0])) == set(range(before.shape[1]))
                with_entry = function(x)
                tensor.copy_(kept)
                torch.testing.assert_close(with_entry, function(x))
            tensor.copy_(kept)


# ------------------------------------------------------------------------- smaller operations


def closure(coupling: Coupling, taken: Taken) -> Taken:
    """All channels of an operation that must be removed with the given ones."""
    taken, size = set(taken), -1
    while size != len(taken):
        size = len(taken)
        for number, link in enumerate(coupling.links):
            for block in range(link.blocks if link.tied else 0):
                outputs = range(link.first + block * link.outputs, link.first + (block + 1) * link.outputs)
                members = {(number, c) for c in link.read(outputs[0])} | {(None, c) for c in outputs}
                if members & taken:
                    taken |= members
    return taken


def removals(case: Case) -> Iterator[tuple[tuple[Mask, ...], Mask]]:
    """The remaining input and output channels for each possible removal."""
    op, shapes = case
    widths: dict[int | None, int] = {**{n: shape[0] for n, shape in enumerate(shapes)}, None: op.shape(*shapes)[0]}
    seen = set()
    for side, width in widths.items():
        for channel in range(width):
            taken = frozenset(closure(op.coupling(*shapes), {(side, channel)}))
            kept = {s: tuple((s, c) not in taken for c in range(w)) for s, w in widths.items()}
            if taken not in seen and all(map(any, kept.values())):
                yield tuple(kept[n] for n in range(len(shapes))), kept[None]
            seen.add(taken)


@pytest.mark.parametrize("case", TOLD, ids=title)
@torch.no_grad()
def test_what_is_left_computes_what_it_did(case: Case) -> None:
    """The smaller operation with sliced parameters equals the larger one with removed inputs at 0."""
    op, shapes = case
    function, module = built(op, shapes)
    values = [torch.randn(BATCH, *shape, dtype=torch.float64) for shape in shapes]
    for inputs, output in removals(case):
        smaller = op.narrowed(inputs, output)
        left = tuple((sum(kept), *shape[1:]) for kept, shape in zip(inputs, shapes, strict=True))
        assert smaller.shape(*left) == (sum(output), *op.shape(*shapes)[1:])
        given = [x[:, torch.tensor(kept)] for x, kept in zip(values, inputs, strict=True)]
        emptied = [
            torch.einsum("nc...,c->nc...", x, torch.tensor(kept, dtype=x.dtype))
            for x, kept in zip(values, inputs, strict=True)
        ]
        call = smaller.torch(*left)
        if isinstance(call, ModuleCall):
            assert module is not None
            compute = build_module(call).double().eval()
            compute.load_state_dict(op.sliced(module.state_dict(), inputs, output, *shapes))
            found = compute(*given, *call.applied)
        else:
            found = build_function(call, len(left))(*given)
        torch.testing.assert_close(found, function(*emptied)[:, torch.tensor(output)])


def test_removals_are_not_empty() -> None:
    """The test above is not empty: all operations except those that mix all channels without weights can lose some."""
    whole = {op.name for op, shapes in CASES if not any(removals((op, shapes)))}
    some = {op.name for op, shapes in CASES if any(removals((op, shapes)))}
    assert whole - some == {"layer_norm", "softmax"}


@pytest.mark.parametrize(
    ("op", "shape", "channel", "gone"),
    [
        (Conv(6), IMAGE, 1, {(0, 1)}),
        (Conv(6, groups=2), IMAGE, 1, {(0, 0), (0, 1), (None, 0), (None, 1), (None, 2)}),
        (Conv(8, groups=4), IMAGE, 1, {(0, 1), (None, 2), (None, 3)}),
        (SliceChannels(1, 2), IMAGE, 2, {(0, 2), (None, 1)}),
        (ChannelShuffle(2), (6,), 1, {(0, 1), (0, 4), (None, 2), (None, 3)}),
        (PRIMITIVES["flatten"](), (3, 2, 1), 1, {(0, 1), (None, 2), (None, 3)}),
    ],
)
def test_what_goes_with_a_channel(op: Op, shape: Shape, channel: int, gone: Taken) -> None:
    assert closure(op.coupling(shape), {(0, channel)}) == gone


# ------------------------------------------------------------------------- smaller networks

PARTS: list[tuple[str, Op, list[str]]] = [
    ("stem", Conv(8), ["x"]),
    ("norm", PRIMITIVES["bn"](), ["stem"]),
    ("relu", PRIMITIVES["relu"](), ["norm"]),
    ("branch", Conv(), ["relu"]),
    ("residual", PRIMITIVES["sum"](), ["relu", "branch"]),
    ("depthwise", Depthwise(multiplier=2), ["residual"]),
    ("dense", PRIMITIVES["concat"](), ["residual", "depthwise"]),
    ("squeezed", PRIMITIVES["global_avg_pool"](), ["dense"]),
    ("excited", PRIMITIVES["linear"](), ["squeezed"]),
    ("scaled", PRIMITIVES["scale"](), ["dense", "excited"]),
    ("last", Conv(6, stride=2), ["scaled"]),
    ("flat", PRIMITIVES["flatten"](), ["last"]),
    ("logits", PRIMITIVES["linear"](width=5), ["flat"]),  # type: ignore[call-arg]
]


def network(ops: dict[str, Op]) -> Graph:
    nodes = {"x": Node("x", Input(), (3, 4, 4))}
    for name, _, sources in PARTS:
        nodes[name] = Node(name, ops[name], ops[name].shape(*(nodes[source].shape for source in sources)))
    edges = [Edge(source, name, slot) for name, _, sources in PARTS for slot, source in enumerate(sources)]
    return Graph("net", nodes.values(), edges, ["logits"])


def all_that_goes(graph: Graph, start: tuple[str, int]) -> set[tuple[str, int]]:
    """All channels of a network that must be removed with a given one."""
    taken, size = {start}, -1
    while size != len(taken):
        size = len(taken)
        for name, op, sources in PARTS:
            sides: dict[int | None, str] = {**dict(enumerate(sources)), None: name}
            here = {(side, c) for side, value in sides.items() for v, c in taken if v == value}
            coupling = op.coupling(*(graph[source].shape for source in sources))
            taken |= {(sides[side], c) for side, c in closure(coupling, here)}
    return taken


@pytest.mark.parametrize(
    ("start", "gone"),
    [
        (("last", 1), {"last": [1], "flat": [4, 5, 6, 7]}),
        (
            ("excited", 12),
            {
                **{name: [2] for name in ("stem", "norm", "relu", "branch", "residual")},
                "depthwise": [4, 5],
                **{name: [2, 12, 13] for name in ("dense", "squeezed", "excited", "scaled")},
            },
        ),
    ],
)
@torch.no_grad()
def test_what_is_left_of_a_network_computes_what_it_did(start: tuple[str, int], gone: dict[str, list[int]]) -> None:
    """If the removed channels are not read through weights."""
    graph = network({name: op for name, op, _ in PARTS})
    assert all_that_goes(graph, start) == {(name, c) for name, channels in gone.items() for c in channels}
    kept = {node.name: tuple(c not in gone.get(node.name, ()) for c in range(node.shape[0])) for node in graph}
    inputs = {name: tuple(kept[source] for source in sources) for name, _, sources in PARTS}
    shapes = {name: [graph[source].shape for source in sources] for name, _, sources in PARTS}

    larger = ReferenceNetwork(graph).double().eval()
    smaller = ReferenceNetwork(network({name: op.narrowed(inputs[name], kept[name]) for name, op, _ in PARTS}))
    smaller.double().eval()
    for name, module in larger.weights.items():
        state, op = module.state_dict(), graph[name].op
        for axis in op.coupling(*shapes[name]).axes:
            if axis.follows == "input":
                state[axis.name][:, ~torch.tensor(inputs[name][0])] = 0
        smaller.weights[name].load_state_dict(op.sliced(state, inputs[name], kept[name], *shapes[name]))
    x = torch.randn(BATCH, 3, 4, 4, dtype=torch.float64)
    torch.testing.assert_close(smaller(x), larger(x))


# ------------------------------------------------------------------------- no rule is missing


def test_operations_of_the_user_keep_all_their_channels() -> None:
    shapes = ((2, 3, 3), (2, 3, 3))
    assert PYTHON.coupling(*shapes) == Coupling((Link(1, 2, 2), Link(1, 2, 2)))
    assert not list(removals((PYTHON, shapes)))
    assert all(reached((PYTHON, shapes), n, c) <= {0, 1} for n in range(2) for c in range(2))


def test_every_operation_has_a_coupling_and_every_coupling_a_case() -> None:
    found = with_rule("coupling")
    assert found >= {*PRIMITIVES.values(), Input, Choice, Maybe, Zero, PythonOp}
    assert found - {type(op) for op, _ in CASES} == {Input, PythonOp, Embedding}
    assert Input().coupling() == Coupling(())


def test_a_missing_rule_fails_loudly() -> None:
    @dataclass(frozen=True)
    class Unfinished(Op):
        name: ClassVar[str] = "unfinished"

    with pytest.raises(NotImplementedError, match="`unfinished` has no coupling rule"):
        Unfinished().coupling((3,))
