"""Cells that are computed again in the backward pass give the same gradients and statistics."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.runtime import Watch, dropping, recompute_cells, watched
from tests.cli.conftest import Run, run
from tests.helpers import body, graph
from tests.search.runs import assert_same, checkpoints
from tests.search.spaces import problem, search

__all__ = ["run"]

TEXT = """
motif block(w) { in x x -> out : relu > conv(w) > bn }
cell pair(w) {
    in a, b
    node h[4]
    a -> h[0]
    b -> h[1]
    for i in 2..4 { for j in 0..i { h[j] -> h[i] : choose { block(w), max_pool(3) > bn, identity } } }
    concat(h[2], h[3]) -> out : conv(w, 1)
}
""" + body(
    """
    node s[5]
    x -> s[0]
    x -> s[1] : conv(3)
    for i in 2..5 { pair(3)(s[i - 2], s[i - 1]) -> s[i] }
    out s[4]
    """
)
ORDERS = {
    "plain": (passes.SWITCHES, passes.DEFAULT),
    "cpu": ((*passes.SWITCHES, *passes.FASTER), passes.Options(batch=1)),
    "cuda": ((*passes.SWITCHES, *passes.FASTER), passes.Options(device="cuda")),
}


def built(order: str = "cpu", text: str = TEXT) -> nn.Module:
    torch.manual_seed(0)
    return build(emit(passes.run(graph(text), *ORDERS[order])))


@contextmanager
def counted(network: nn.Module, kind: type[nn.Module]) -> Iterator[list[int]]:
    """The calls of all modules of a kind."""
    calls = [0]

    def count(*_: object) -> None:
        calls[0] += 1

    hooks = [module.register_forward_hook(count) for module in network.modules() if isinstance(module, kind)]
    yield calls
    for hook in hooks:
        hook.remove()


def trained(network: nn.Module, drop: float) -> list[Tensor]:
    """Two steps: the losses, gradients, statistics, and the next random number."""
    torch.manual_seed(1)
    x = torch.randn(4, 3, 8, 8)
    found: list[Tensor] = []
    with dropping(drop):
        for _ in range(2):
            loss = network(x).square().mean()
            torch.autograd.backward(loss)
            found.append(loss.detach())
    gradients = [p.grad for p in network.parameters() if p.grad is not None]
    assert len(gradients) == len(list(network.parameters()))
    return [*found, *gradients, *network.state_dict().values(), torch.rand(())]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("drop", [0.0, 0.3])
def test_the_same_gradients_and_statistics(order: str, drop: float) -> None:
    once, twice = built(order), built(order)
    recompute_cells(twice)
    for mine, theirs in zip(trained(once, drop), trained(twice, drop), strict=True):
        assert torch.equal(mine, theirs)


def test_cells_are_computed_twice() -> None:
    network = recompute_cells(built("plain"))
    x = torch.randn(2, 3, 8, 8)
    with counted(network, nn.BatchNorm2d) as calls:
        loss = network(x).sum()
        (once,) = calls
        torch.autograd.backward(loss)
        assert calls[0] > 1.5 * once  # the second pass ends when everything that is needed is there
    with counted(network, nn.BatchNorm2d) as calls, torch.no_grad():
        network(x)
    assert calls == [once]
    with counted(network.eval(), nn.BatchNorm2d) as calls:
        torch.autograd.backward(network(x).sum())
    assert calls == [once]


def test_a_generator_of_your_own() -> None:
    once, twice = built(), recompute_cells(built())
    found = []
    for network in (once, twice):
        generator = torch.Generator().manual_seed(3)
        with dropping(0.5, generator):
            loss = network(torch.ones(4, 3, 8, 8)).square().mean()
        torch.autograd.backward(loss)
        found.append([*(p.grad for p in network.parameters()), torch.rand(3, generator=generator)])
    for mine, theirs in zip(*found, strict=True):
        assert mine is not None
        assert torch.equal(mine, theirs)


def test_watched_passes_are_computed_once() -> None:
    network = recompute_cells(built("plain"))
    with counted(network, nn.BatchNorm2d) as calls, watched(Watch()) as watch:
        loss = network(torch.randn(2, 3, 8, 8)).sum()
        (once,) = calls
        torch.autograd.backward(loss)
    assert calls == [once]
    gates = next(p for name, p in network.named_parameters() if name.endswith("gates"))
    assert watch.slopes(gates) is not None


def test_motifs_count_where_there_are_no_cells() -> None:
    text = "motif block(w) { in x x -> out : conv(w) > bn > relu } motif stage { in x x -> out : block(4) > block(3) } "
    network = recompute_cells(built("plain", text + body("x -> out : stage > block(8) > conv(3)")))
    recomputed = [name for name, module in network.named_modules() if "forward" in vars(module)]
    assert recomputed == ["stage", "block"]


def test_a_search_is_the_same(tmp_path: Path) -> None:
    settings = {"iterations": 2, "steps": 4, "warmup": 2, "finish": 2, "drop_path": 0.2, "batch": 8, "accumulate": 2}
    for recompute in (False, True):
        search(problem(TEXT_OF_SEARCH, recompute=recompute, **settings), tmp_path / str(recompute)).run()
    assert_same(checkpoints(tmp_path / "False"), checkpoints(tmp_path / "True"))


TEXT_OF_SEARCH = """
cell c(w) {
    in x
    node h = x : choose { conv(w) > bn, conv(w, 1) > bn, identity }
    h -> out : choose { conv(w) > bn > relu, max_pool(3) }
}
network net : image(1, 8, 8) -> classes(10) {
    in x
    node y = x : conv(4) > bn > c(4) > c(4)
    y -> out : global_avg_pool > linear(10)
}
"""


def test_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.nas").write_text(TEXT_OF_SEARCH)
    short = [
        word
        for setting in ("cutout=0", "warmup=1", "iterations=1", "steps=1", "rate=0.001")
        for word in ("-s", setting)
    ]
    result = run("search", "net.nas", "--data", "digits", "--recompute", *short, "-s", "finish=0", "-o", "run")
    assert result.code == 0
    assert '"recompute": true' in (tmp_path / "run" / "run.json").read_text()
    (tmp_path / "plain.nas").write_text(
        "network net : image(1, 8, 8) -> classes(10) { in x x -> out : conv(4) > choose { relu, tanh } > "
        "global_avg_pool > linear(10) }"
    )
    result = run("search", "plain.nas", "--data", "digits", "--recompute", *short)
    assert result.code == 1
    assert "error[NAS601]: network `net` has neither cells nor motifs that could be computed again" in result.err
    assert not (tmp_path / "runs").exists()


def test_copies_of_the_network() -> None:
    """A copy trains its own weights."""
    network = built()
    other = recompute_cells(copy.deepcopy(network))
    torch.autograd.backward(other(torch.randn(2, 3, 8, 8)).sum())
    assert all(p.grad is None for p in network.parameters())
    assert all(p.grad is not None for p in other.parameters())
