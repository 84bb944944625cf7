"""In a training loop of one's own, a pruned supernet computes and continues as the whole one with closed gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bayesnas_graph import api
from bayesnas_graph.bayes import CrossEntropy, Decision
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.search.prior import Prior
from bayesnas_graph.search.pruning import carry_momentum, pruned_supernet
from tests.helpers import network
from tests.search.spaces import TINY

Optimiser = Callable[[tuple[torch.nn.Parameter, ...]], torch.optim.Optimizer]
OPTIMISERS: list[Optimiser] = [
    lambda parameters: torch.optim.SGD(parameters, 0.05, momentum=0.9),
    lambda parameters: torch.optim.AdamW(parameters, 0.01),
]


def batch() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(12, 1, 8, 8, generator=generator, dtype=torch.float64), torch.arange(12) % 10


def step(net: Supernet, optimiser: torch.optim.Optimizer) -> None:
    x, y = batch()
    net.zero_grad()
    torch.autograd.backward([cross_entropy(net(x), y)])
    optimiser.step()


def begun(optimiser: Optimiser) -> tuple[Supernet, torch.optim.Optimizer, Prior]:
    torch.manual_seed(0)
    net = api.compile(network(TINY)).double()
    net.set_gates(torch.rand(len(net.names), dtype=torch.float64) + 0.5)
    chosen = optimiser(net.weight_parameters())
    for _ in range(3):
        step(net, chosen)
    return net, chosen, Prior(net, intensity=0.3, rate=0.2)


def closing(net: Supernet, prior: Prior) -> Decision:
    """A decision that closes `max_pool` and the shared candidate of one of two choices."""
    decision = prior.update(net, [batch()], CrossEntropy(), "ggn")
    off = {group for group, gate in net.graph.switches.items() if gate.operation == "max_pool"}
    off.add(next(group for group, gate in net.graph.switches.items() if gate.operation == "twice"))
    return replace(decision, verdicts=tuple(replace(one, keep=one.name not in off) for one in decision.verdicts))


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_pruned_supernet_continues_as_before(optimiser: Optimiser) -> None:
    net, before, prior = begun(optimiser)
    decision = closing(net, prior)
    assert len(decision.off) == 2
    group_of = {gate.name: gate.group for gate in net.graph.gates}
    net.set_gates(net.gates * torch.tensor([group_of[name] not in decision.off for name in net.names]))
    state = torch.random.get_rng_state()
    smaller = pruned_supernet(net, decision)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert len(smaller.names) < len(net.names)
    x, _ = batch()
    torch.testing.assert_close(smaller.eval()(x), net.eval()(x))
    after = optimiser(smaller.weight_parameters())
    carry_momentum(before, net, after, smaller)
    for one, its in ((net.train(), before), (smaller.train(), after)):
        for _ in range(3):
            step(one, its)
    torch.testing.assert_close(smaller.eval()(x), net.eval()(x))


def test_a_prior_keeps_what_it_knows_about_the_rest() -> None:
    net, _, prior = begun(OPTIMISERS[0])
    decision = closing(net, prior)
    smaller = pruned_supernet(net, decision)
    rest = prior.pruned(smaller)
    of = dict(zip(prior.switches.groups, prior.state.gamma.tolist(), strict=True))
    assert rest.state.gamma.tolist() == [of[group] for group in rest.switches.groups]
    assert set(rest.switches.groups) == set(prior.switches.groups) - decision.off
    rest.step(smaller)
    assert {one.name for one in rest.update(smaller, [batch()], CrossEntropy()).verdicts} == set(rest.switches.groups)


def test_the_optimiser_of_a_head_remembers_it() -> None:
    net, _, prior = begun(OPTIMISERS[0])
    head = torch.nn.Linear(10, 2).double()
    before = torch.optim.Adam([*net.weight_parameters(), *head.parameters()])
    torch.autograd.backward([head(net(batch()[0])).square().sum()])
    before.step()
    smaller = pruned_supernet(net, closing(net, prior))
    after = torch.optim.Adam([*smaller.weight_parameters(), *head.parameters()])
    carry_momentum(before, net, after, smaller)
    assert torch.equal(after.state[head.weight]["exp_avg"], before.state[head.weight]["exp_avg"])
    assert set(after.state) == {*smaller.weight_parameters(), *head.parameters()}


def test_nothing_is_shared_with_the_whole_supernet() -> None:
    net, _, prior = begun(OPTIMISERS[0])
    x, _ = batch()
    smaller = pruned_supernet(net, closing(net, prior))
    before = net.eval()(x)
    with torch.no_grad():
        for parameter in smaller.parameters():
            parameter.zero_()
    assert torch.equal(net(x), before)
