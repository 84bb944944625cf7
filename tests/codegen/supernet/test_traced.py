"""What `--compile` gives to torch.compile is traced as a whole, once, and computes the same as without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounterWithBackend
from torch._dynamo.utils import counters

from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.codegen.supernet import Supernet, compile_regions
from bayesnas_graph.passes import DeviceKind
from bayesnas_graph.runs import device
from bayesnas_graph.runtime import dropping
from bayesnas_graph.search import loop
from bayesnas_graph.search.step import train_step
from bayesnas_graph.train.learner import compile_motifs
from tests.helpers import mostly_long
from tests.search import spaces
from tests.search.spaces import TINY, searched
from tests.search.test_variants import MIXED
from tests.train import networks

# Candidates of every kind in the DARTS space.
SEPARABLE = """
import "std.nas"

cell block {
    in x
    node h[2]
    x -> h[0] : choose { sep_conv(3), dil_conv(3), sep_conv(5), avg_pool_bn(3), max_pool(3), identity }
    x, h[0] -> h[1] : choose { sep_conv(3), dil_conv(5), identity }
    h[1] -> out
}

network net(width = 4) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(width) > bn > block > block > global_avg_pool > linear(10)
}
"""

pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns about what it does itself


@pytest.fixture
def counted() -> Iterator[Any]:
    """Counts traced regions. torch is as if it had traced nothing before."""
    torch._dynamo.reset()
    counters.clear()
    yield CompileCounterWithBackend("aot_eager")
    torch._dynamo.reset()


def results(network: nn.Module, x: Tensor, seed: int, drop: float) -> tuple[Tensor, list[Tensor | None]]:
    """The output and all gradients; weights move a little, as in training."""
    torch.manual_seed(seed)
    parameters = list(network.parameters())
    with dropping(drop if network.training else 0.0):
        y = network(x)
    y = y[0] if isinstance(y, tuple) else y
    gradients: tuple[Tensor | None, ...] = torch.autograd.grad(y.square().mean(), parameters, allow_unused=True)
    with torch.no_grad():
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if gradient is not None:
                parameter.sub_(1e-4 * gradient)
    return y, list(gradients)


def assert_traced_once(plain: nn.Module, compiled: nn.Module, counted: Any, drop: float, growth: float = 0.0) -> None:
    compiled.load_state_dict(plain.state_dict())
    plain.double(), compiled.double()
    generator = torch.Generator().manual_seed(0)
    for is_training in (True, False):
        plain.train(is_training), compiled.train(is_training)
        traced = []
        for step in range(4):
            x = torch.randn(8, 1, 8, 8, dtype=torch.float64, generator=generator)
            torch.testing.assert_close(
                *(results(network, x, step, drop + growth * step) for network in (plain, compiled))
            )
            traced.append(counted.frame_count)
        assert traced == traced[:1] * 4, "the first step traces everything"
        assert traced[0]
    with torch.no_grad():  # as in tests
        torch.testing.assert_close(plain(x), compiled(x))
    assert not counters["graph_break"]


@pytest.mark.parametrize("drop", mostly_long([0.0, 0.2], 0.2))
@pytest.mark.parametrize("kind", ["cpu", "cuda"])
@pytest.mark.parametrize("text", [TINY, MIXED, SEPARABLE], ids=["tiny", "mixed", "separable"])
def test_choices(text: str, kind: DeviceKind, drop: float, counted: Any) -> None:
    torch.manual_seed(0)
    plain, compiled = (Supernet.of(spaces.problem(text).graph, kind, 8).module for _ in range(2))
    assert_traced_once(plain, compile_regions(compiled, backend=counted), counted, drop)


def test_motifs_of_a_network_in_training(counted: Any) -> None:
    """Paths are dropped with another probability in every step."""
    text = networks.FIXED.replace("relu > conv() > bn", "conv_bn")
    text = text.replace("motif residual", "motif conv_bn { in x x -> out : conv() > bn }\n\nmotif residual")
    graph = networks.problem(text, auxiliary=0.0, drop_path=0.2).trained_graph
    torch.manual_seed(0)
    plain, compiled = (build(emit(graph)) for _ in range(2))
    compile_motifs(compiled, backend=counted)
    assert_traced_once(plain, compiled, counted, drop=0.1, growth=0.1)


def test_a_search(counted: Any, tmp_path: Path) -> None:
    """Only the first step of each network traces anything, and the decision is the same."""
    settings: dict[str, Any] = {"iterations": 2, "steps": 4, "warmup": 2, "finish": 2, "drop_path": 0.2}
    traced: list[tuple[Any, int]] = []

    def step(learner: Any, *args: Any) -> Any:
        before, broken = counted.frame_count, counters["graph_break"].total()
        found = train_step(learner, *args)
        traced.append((learner.network, counted.frame_count - before))
        assert counters["graph_break"].total() == broken == 0
        return found

    with (
        patch.object(device, "compile_regions", lambda module, **_: compile_regions(module, backend=counted)),
        patch.object(loop, "train_step", step),
    ):
        compiled = searched(tmp_path / "compiled", compile=True, **settings)
    plain = searched(tmp_path / "plain", **settings)
    assert traced[0][1]
    assert all(not count or network is not traced[i][0] for i, (network, count) in enumerate(traced[1:]))
    assert compiled.decision.off == plain.decision.off
