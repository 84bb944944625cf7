"""Compiled networks of shipped spaces: half precision, channels last, and two at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph import passes
from bayesnas_graph.bayes import Estimator, curvature
from bayesnas_graph.bayes.losses import CrossEntropy
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.runtime import Watch, dropping, watched
from tests.conftest import ROOT

SMALL: dict[str, tuple[str, dict[str, int]]] = {
    "quickstart": ("digits", {"width": 4}),
    "darts": ("search", {"width": 8, "cells": 2}),  # with fewer channels, oneDNN's issue 6035 writes where it must not
    "nasbench201": ("search", {"width": 4, "cells": 1}),
    "densenet": ("search", {"depth": 16, "growth": 4}),
}
NETWORKS = [*((name, True) for name in SMALL), ("quickstart", False)]
ROWS = 4


@cache
def supernet(space: str, fuse: bool) -> Supernet:
    """A small network with norm statistics of one batch."""
    checker = Checker(Report())
    found = checker.path(ROOT / "spaces" / f"{space}.nas")
    assert found is not None
    name, arguments = SMALL[space]
    network = checker.network(found.module, name, dict(arguments))
    assert network is not None
    torch.manual_seed(0)
    result = Supernet.of(passes.run(network.graph(), passes.SWITCHES), batch=ROWS, fuse=fuse)
    with torch.no_grad():
        for module in result.module.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum = 1.0
        result.module(batch(result)[0])
    return result


def batch(network: Supernet) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    (shape,) = (node.shape for node in network.graph if isinstance(node.op, Input))
    return torch.randn(ROWS, *shape, generator=generator), torch.randint(10, (ROWS,), generator=generator)


def step(network: Supernet, form: torch.memory_format, dtype: torch.dtype | None) -> dict[str, Tensor]:
    """A training step on a copy: outputs, gradients and statistics; checks every intermediate image."""
    module = copy.deepcopy(network.module).to(memory_format=form)  # type: ignore[call-overload]
    x, labels = batch(network)
    found: dict[str, Tensor] = {}

    def look(_: nn.Module, __: object, output: object) -> None:
        if isinstance(output, Tensor):
            assert dtype is None or output.dtype == dtype
            assert output.ndim < 4 or output.is_contiguous(memory_format=form)

    for part in module.modules():
        part.register_forward_hook(look)
    with torch.autocast("cpu", dtype, enabled=dtype is not None):
        outputs = module(x.contiguous(memory_format=form))
    torch.autograd.backward([F.cross_entropy(outputs.float(), labels)])
    found["outputs"] = outputs.detach().float()
    found["gradients"] = torch.cat([gradient.flatten() for gradient in gradients(module)])
    found["statistics"] = torch.cat([buffer.flatten() for buffer in module.buffers()])
    return found


def gradients(module: nn.Module) -> Iterator[Tensor]:
    for parameter in module.parameters():
        assert parameter.grad is not None
        assert parameter.grad.dtype == torch.float32
        yield parameter.grad


def distance(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize(("space", "fuse"), NETWORKS)
def test_half_precision_and_channels_last(space: str, fuse: bool) -> None:
    """A norm after a norm amplifies rounding errors: torch's modules differ from single precision as much."""
    network = supernet(space, fuse)
    plain = step(network, torch.contiguous_format, None)
    limits = {"outputs": 0.05, "gradients": 0.4, "statistics": 0.05}
    forms: list[tuple[torch.memory_format, torch.dtype | None]] = [
        (torch.channels_last, None),
        (torch.contiguous_format, torch.bfloat16),
        (torch.channels_last, torch.bfloat16),
    ]
    for form, dtype in forms:
        found = step(network, form, dtype)
        distances = {name: distance(found[name], plain[name]) for name in limits}
        assert all(distances[name] < (limit if dtype else 0.005) for name, limit in limits.items()), distances


@pytest.mark.parametrize("estimator", ["fisher", "ggn"])
@pytest.mark.parametrize("space", ["nasbench201", "densenet"])
def test_curvature_in_half_precision(space: str, estimator: Estimator) -> None:
    network = supernet(space, fuse=True)
    found = []
    for enabled in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            generator = torch.Generator().manual_seed(0)
            found.append(curvature(network, [batch(network)], CrossEntropy(), estimator, generator=generator))
    plain, half = found
    assert half.h.isfinite().all()
    assert half.h.dtype == torch.float32
    assert distance(half.h, plain.h) < 0.25
    assert distance(half.moments.squares, plain.moments.squares) < 0.02


@pytest.fixture
def deterministic() -> Iterator[None]:
    """Deterministic algorithms only, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("form", [torch.contiguous_format, torch.channels_last], ids=str)
def test_the_same_steps_give_the_same_bits(form: torch.memory_format) -> None:
    def trained() -> list[Tensor]:
        network = supernet("darts", fuse=True)
        module = copy.deepcopy(network.module).to(memory_format=form)  # type: ignore[call-overload]
        x, labels = batch(network)
        optimiser = torch.optim.SGD(module.parameters(), 0.05, momentum=0.9)
        torch.manual_seed(3)
        for _ in range(2):
            optimiser.zero_grad()
            with dropping(0.2), watched(Watch()) as watch:
                loss = F.cross_entropy(module(x.contiguous(memory_format=form)), labels)
            torch.autograd.backward([loss])
            optimiser.step()
        slopes = [watch.slopes(gates) for name, gates in module.named_parameters() if name.endswith("gates")]
        return [*module.state_dict().values(), *(rows for rows in slopes if rows is not None)]

    first, second = trained(), trained()
    assert len(first) == len(second)
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
