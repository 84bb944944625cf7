"""Recalibration changes only batch norm statistics."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.export.recalibrate import recalibrate


def deep() -> nn.Sequential:
    """Two norms in sequence with dropout between them, and distinct weights and statistics."""
    torch.manual_seed(0)
    found = nn.Sequential(
        *(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, momentum=0.3), nn.ReLU(), nn.Dropout(0.5)),
        *(nn.Flatten(), nn.Linear(64, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)),
    )
    for value in found.state_dict().values():
        if value.is_floating_point():
            value.uniform_(0.5, 2)
    return found.eval()


def data(batches: int = 6, size: int = 8) -> Tensor:
    return torch.randn(batches, size, 2, 6, 6, generator=torch.Generator().manual_seed(1)) * 3 + 1


def test_statistics_are_those_of_all_data() -> None:
    network, batches = deep(), data()
    assert recalibrate(network, batches) == 2
    first, second = network[1], network[6]
    # All batches at once, each normalised by itself.
    exact = deepcopy(network).double()
    seen = exact[0](batches.double().flatten(0, 1)).unflatten(0, batches.shape[:2])
    expect(first, seen.mean((0, 1, 3, 4)), seen.transpose(1, 2).flatten(2).var(2).mean(0))
    mean = seen.mean((1, 3, 4), keepdim=True)
    deviation = (seen.var((1, 3, 4), correction=0, keepdim=True) + first.eps).sqrt()
    weight, bias = (exact[1].get_parameter(name).view(-1, 1, 1) for name in ("weight", "bias"))
    behind = exact[5](((seen - mean) / deviation * weight + bias).relu().flatten(2))
    expect(second, behind.mean((0, 1)), behind.var(1).mean(0))


def expect(norm: nn.Module, mean: Tensor, variance: Tensor) -> None:
    torch.testing.assert_close(norm.get_buffer("running_mean").double(), mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(norm.get_buffer("running_var").double(), variance, rtol=1e-5, atol=1e-5)


def test_norms_in_a_row_as_in_training() -> None:
    network, batches = deep(), data()
    trained = deepcopy(network)
    trained[3] = nn.Identity()  # what dropout is when it is off
    trained.train()
    for norm in trained:
        if isinstance(norm, nn.BatchNorm1d | nn.BatchNorm2d):
            norm.reset_running_stats()
            norm.momentum = None
    for batch in batches:
        trained(batch)
    recalibrate(network.train(), iter(batches))
    for name, value in trained.state_dict().items():
        torch.testing.assert_close(network.state_dict()[name], value, rtol=0, atol=0)


def test_statistics_from_before_do_not_count() -> None:
    one, other = deep(), deep()
    nn.init.constant_(other[1].get_buffer("running_var"), torch.nan)
    recalibrate(one, data())
    recalibrate(other, data())
    assert all(value.equal(other.state_dict()[name]) for name, value in one.state_dict().items())


def test_all_else_stays_as_it_is() -> None:
    network = deep()
    network[6].train()
    network[1].eval()
    modes = [part.training for part in network.modules()]
    weights = [parameter.clone() for parameter in network.parameters()]
    recalibrate(network, data())
    assert [part.training for part in network.modules()] == modes
    assert [network[1].momentum, network[6].momentum] == [0.3, 0.1]
    assert all(
        after.equal(before) and after.grad is None for after, before in zip(network.parameters(), weights, strict=True)
    )


def test_a_network_without_norms() -> None:
    def never() -> Tensor:
        raise AssertionError("no batch is needed")

    network = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, track_running_stats=False)).train()
    before = deepcopy(network.state_dict())
    assert recalibrate(network, (never() for _ in range(1))) == 0
    assert network.training
    assert all(value.equal(before[name]) for name, value in network.state_dict().items())


def test_without_a_batch_nothing_changes() -> None:
    network = deep()
    before = deepcopy(network.state_dict())
    assert recalibrate(network, []) == 2
    assert all(value.equal(before[name]) for name, value in network.state_dict().items())


def test_a_batch_that_does_not_fit() -> None:
    network = deep()
    with pytest.raises(RuntimeError):
        recalibrate(network, [torch.zeros(2, 5, 6, 6)])
    assert not any(part.training for part in network.modules())
    assert network[1].momentum == 0.3
