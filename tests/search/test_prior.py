"""A prior stepped by hand behaves as in a search with the strategy `bayesnas`."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from bayesnas_graph import api
from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.derive import derive
from bayesnas_graph.passes import plain, verify
from bayesnas_graph.search.learner import new_learner
from bayesnas_graph.search.prior import Prior
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.strategies.bayesnas import iterate, measure_units, moved
from bayesnas_graph.search.strategy import Rates
from tests.search.spaces import TINY, device, problem


def gradients(net: Supernet, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    net.module.zero_grad()
    torch.autograd.backward([cross_entropy(net.module(x), y)])
    return net.in_order([torch.zeros_like(p) if p.grad is None else p.grad for p in net.gate_parameters()])


def test_steps_and_updates_are_those_of_a_search() -> None:
    given = problem(strategy="bayesnas")
    config = given.config
    torch.manual_seed(0)
    learner = new_learner(given.graph, config, device(config))
    prior = Prior(learner.supernet, intensity=config.lambda_w, rate=config.gate_rate)
    batches = [(torch.randn(20, 1, 8, 8), torch.randint(0, 10, (20,))) for _ in range(3)]
    rates = Rates(weights=0.0, gates=config.gate_rate, intensities=config.intensities)
    for x, y in batches:
        slopes = gradients(learner.supernet, x, y)
        expected = moved(learner, slopes, rates)
        prior.step(learner.supernet)
        torch.testing.assert_close(learner.supernet.gates, expected)
    learner = measure_units(learner, batches)
    decision = prior.update(learner.supernet, batches, CrossEntropy(), generator=torch.Generator().manual_seed(0))
    assert {verdict.name for verdict in decision.verdicts} == set(learner.switches.groups)
    _, _, found = iterate(given, learner, SearchProgress(measured=True), batches)
    assert {v.name for v in found.architecture.verdicts} == {v.name for v in decision.verdicts}
    torch.testing.assert_close(prior.units, learner.units, rtol=1e-4, atol=1e-6)


def test_a_loop_of_ones_own_closes_switches(tmp_path: Path) -> None:
    (tmp_path / "tiny.nas").write_text(TINY)
    torch.manual_seed(0)
    net = api.compile(api.load(tmp_path / "tiny.nas"))
    optimiser = torch.optim.SGD(net.weight_parameters(), lr=0.05)
    prior = Prior(net, intensity=20.0, rate=0.2)
    batches = [(torch.randn(20, 1, 8, 8), torch.randint(0, 10, (20,))) for _ in range(4)]
    before = prior.penalty(net)
    for _ in range(5):
        for x, y in batches:
            gradients(net, x, y)
            optimiser.step()
            prior.step(net)
        decision = prior.update(net, batches, CrossEntropy())
    assert prior.penalty(net) < before
    derived = derive(net.graph, decision)
    verify(plain(derived.graph))
    assert any(not verdict.keep for verdict in decision.verdicts)
