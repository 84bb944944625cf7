"""A supernet is a torch module like any other."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph import api
from bayesnas_graph.codegen.supernet import Supernet
from tests.helpers import network
from tests.search.spaces import TINY

X = torch.randn(6, 1, 8, 8, generator=torch.Generator().manual_seed(0))


class Model(nn.Module):
    """A supernet inside a module of one's own."""

    def __init__(self) -> None:
        super().__init__()
        self.net = supernet()
        self.head = nn.Linear(10, 2)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(self.net(x))
        return out


def supernet(seed: int = 0) -> Supernet:
    """A supernet with gates and statistics that are not those of the start."""
    torch.manual_seed(seed)
    net = api.compile(network(TINY))
    net.set_gates(torch.rand(len(net.names)) + 0.5)
    net(X)
    return net


def pickled(net: nn.Module) -> nn.Module:
    copied: nn.Module = pickle.loads(pickle.dumps(net))
    return copied


def saved(net: nn.Module) -> nn.Module:
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    copied: nn.Module = torch.load(file, weights_only=False)
    return copied


COPIES = pytest.mark.parametrize("copy", [deepcopy, pickled, saved])


def test_its_parameters_are_its_gates_and_weights() -> None:
    net = supernet()
    gates, weights = set(net.gate_parameters()), set(net.weight_parameters())
    assert gates
    assert weights
    assert not gates & weights
    assert gates | weights == set(net.parameters())
    assert sum(map(len, net.gate_parameters())) == len(net.names)
    assert net.module in set(net.modules())


def test_calling_it_calls_its_module() -> None:
    net = supernet().eval()
    assert not net.module.training
    assert torch.equal(net(X), net.module(X))


def test_state_dicts_hold_weights_gates_and_statistics() -> None:
    one, two = supernet(0).eval(), supernet(1).eval()
    assert not torch.equal(one(X), two(X))
    file = io.BytesIO()
    torch.save(one.state_dict(), file)
    file.seek(0)
    two.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(one(X), two(X))
    assert torch.equal(one.gates, two.gates)


@COPIES
def test_a_copy_computes_the_same_and_changes_alone(copy: Callable[[nn.Module], Supernet]) -> None:
    net = supernet().eval()
    first = net.weight_parameters()[0].requires_grad_(False)
    state, other = torch.random.get_rng_state(), copy(net)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(other(X), net(X))
    assert torch.equal(other.gates, net.gates)
    assert other.names == net.names
    assert not any(module.training for module in other.modules())
    assert [p.requires_grad for p in other.parameters()] == [p.requires_grad for p in net.parameters()]
    assert not first.requires_grad
    before = net(X)
    other.set_gates(torch.zeros(len(net.names)))
    assert torch.equal(net(X), before)
    assert not torch.equal(other(X), before)


@COPIES
def test_it_can_be_a_part_of_another_module(copy: Callable[[nn.Module], Model]) -> None:
    model = Model().eval()
    other = copy(model)
    assert torch.equal(other(X), model(X))
    assert set(other.net.gate_parameters()) <= set(other.parameters())


def test_a_copy_can_be_trained() -> None:
    net, other = supernet(), deepcopy(supernet())
    for one in (net, other):
        torch.autograd.backward([one(X).square().sum()])
    for own, its in zip(net.parameters(), other.parameters(), strict=True):
        assert (
            torch.equal(own.grad, its.grad) if own.grad is not None and its.grad is not None else own.grad is its.grad
        )


def test_it_moves_and_changes_its_precision() -> None:
    net = supernet().to(torch.float64)
    assert net.gates.dtype == net(X.double()).dtype == torch.float64
    assert net.order.dtype == torch.long
    assert net.to("meta").order.device.type == "meta"


def test_frozen_modes_of_parts_survive_pickling() -> None:
    net = supernet()
    norm = next(module for module in net.modules() if isinstance(module, nn.BatchNorm2d)).eval()
    name = next(name for name, module in net.named_modules() if module is norm)
    modes = {name: module.training for name, module in pickled(net).named_modules()}
    assert modes[""]
    assert not modes[name]
