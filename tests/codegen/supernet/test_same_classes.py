"""After pruning, torch.compile compiles only what has changed."""

from __future__ import annotations

import gc
from typing import Any
from weakref import WeakSet

import pytest
import torch
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.codegen.supernet import Supernet, compile_regions
from bayesnas_graph.codegen.supernet.same_classes import reuse_classes
from bayesnas_graph.ir import Graph
from bayesnas_graph.runtime import Watch, watched
from bayesnas_graph.runtime.uncompiled import uncompiled
from tests.helpers import body, graph

pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns about what it does itself

# Two kinds of choices, and one kind in two sizes.
TEXT = """
motif twice { in x x -> out : conv(k = 1) > relu > conv(k = 1) }
""" + body(
    """
    node a = x : choose { conv(3), max_pool(3), identity }
    node b = a : choose { twice, identity }
    node c = b : avg_pool(2, 2) > choose { conv(3), max_pool(3), identity }
    node d = c : choose { twice, avg_pool(3), identity }
    d -> out
    """,
    "image(3, 8, 8) -> image(3, 4, 4)",
)
GRAPH = passes.run(graph(TEXT), passes.SWITCHES)
X = torch.randn(2, 3, 8, 8)


class Counting:
    """A backend that counts what it compiles."""

    def __init__(self) -> None:
        self.compiled = 0

    def __call__(self, module: Any, _: object) -> Any:
        self.compiled += 1
        return module.forward

    def of(self, network: nn.Module) -> int:
        """How many regions a call of this network compiles."""
        before = self.compiled
        compile_regions(network, backend=self)(X)
        return self.compiled - before


@pytest.fixture
def counting() -> Counting:
    torch._dynamo.reset()
    return Counting()


def network(found: Graph = GRAPH) -> nn.Module:
    return build(emit(passes.run(found, passes.FASTER)))


def without(*ends: str) -> Graph:
    off = {gate.group for gate in GRAPH.gates if gate.group.endswith(ends)}
    assert len(off) == len(ends)
    return passes.prune(GRAPH, off)


def test_an_equal_program_is_not_compiled_again(counting: Counting) -> None:
    first = network()
    assert counting.of(first) == 4
    assert counting.of(network()) == 0
    assert counting.of(first) == 0


@pytest.mark.parametrize(
    ("closed", "expected"),
    [
        (("a.max_pool",), 1),  # the other size of this kind stays
        (("a.max_pool", "c.choice.max_pool"), 2),
        (("d.avg_pool",), 1),
    ],
)
def test_only_changed_choices_are_compiled_again(closed: tuple[str, ...], expected: int, counting: Counting) -> None:
    first = network()
    assert counting.of(first) == 4
    assert counting.of(network(without(*closed))) == expected


def test_reused_classes_compute_the_same(counting: Counting) -> None:
    first, again, plain = network(), network(), network()
    for other in (again, plain):
        other.load_state_dict(first.state_dict())
    counting.of(first)
    compile_regions(again, backend=counting)
    kinds = [
        {type(part) for part in net.modules() if getattr(type(part), "role", "") == "choice"} for net in (first, again)
    ]
    assert kinds[0] == kinds[1]
    x = [X.clone().requires_grad_() for _ in range(2)]
    outputs = [net(one) for net, one in zip((again, plain), x, strict=True)]
    torch.testing.assert_close(*outputs)
    slopes = [torch.autograd.grad(y.square().sum(), one) for y, one in zip(outputs, x, strict=True)]
    torch.testing.assert_close(*slopes)


def test_classes_are_not_kept_longer_than_their_networks() -> None:
    first = network(passes.run(graph(TEXT.replace("identity", "tanh")), passes.SWITCHES))  # in no other test
    reuse_classes(first)
    kinds = WeakSet(type(part) for part in first.modules() if getattr(type(part), "role", "") == "choice")
    assert len(kinds) == 3
    del first
    gc.collect()
    assert len(kinds) == 0


def test_measurements_are_not_compiled(counting: Counting) -> None:
    supernet = Supernet.of(GRAPH, batch=2)
    compile_regions(supernet.module, backend=counting)
    with supernet.measuring() as module, watched(Watch()) as watch:
        module(X).sum().backward()
    assert counting.compiled == 0
    assert supernet.slopes(watch).shape == (2, len(supernet.names))
    with uncompiled():
        supernet.module(X[:1])
    assert counting.compiled == 0
    supernet.module(X)
    assert counting.compiled == 4
