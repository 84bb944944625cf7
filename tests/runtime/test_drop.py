"""Drop-path: what is dropped, how often, and its gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.runtime import Watch, dropping, gated_sum, watched
from bayesnas_graph.runtime.drop import drawn
from tests.helpers import body, graph


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def values(count: int, *shape: int) -> list[Tensor]:
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for _ in range(count)]


def by_hand(terms: list[Tensor], gates: Tensor, probability: float, generator: torch.Generator) -> Tensor:
    """The sum, computed with the same random numbers."""
    with dropping(probability, generator):
        factors = drawn(terms)
    assert factors is not None
    shape = (-1, *[1] * (terms[0].ndim - 1))
    total = torch.zeros_like(terms[0])
    for term, gate, factor in zip(terms, gates, factors, strict=False):
        total = total + term * gate * factor.view(shape)
    return total * gates[-1] if len(gates) > len(terms) else total


def test_terms_are_dropped_per_sample() -> None:
    samples = 2000
    with dropping(0.3, seeded()):
        sums = gated_sum([torch.ones(samples, 2, 3), 10 * torch.ones(samples, 2, 3)], torch.tensor([1.0, 2.0, 0.7]))
    assert torch.equal(sums, sums[:, :1, :1].expand_as(sums)), "a sample is dropped as a whole"
    scaled = sums[:, 0, 0]
    share, ten = 1 * 0.7 / 0.7, 20 * 0.7 / 0.7
    kept = [((scaled - amount).abs() < 1e-4).double().mean().item() for amount in (0.0, share, ten, share + ten)]
    assert kept == pytest.approx([0.09, 0.21, 0.21, 0.49], abs=0.04), "terms are dropped independently"
    assert sum(kept) == pytest.approx(1), "the zero gate is never dropped"


def test_the_sum_is_the_same_on_average() -> None:
    terms = [torch.tensor([3.0]).expand(40_000, 1), torch.tensor([-1.0]).expand(40_000, 1)]
    with dropping(0.4, seeded()):
        assert gated_sum(terms, torch.tensor([1.0, 2.0])).mean().item() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 3, 2, 2)])
def test_gradients(shape: tuple[int, ...], zero: bool) -> None:
    terms = values(3, *shape)
    gates = torch.rand(3 + zero, dtype=torch.float64, requires_grad=True)

    def dropped(gates: Tensor, *terms: Tensor) -> Tensor:
        with dropping(0.5, seeded()):
            return gated_sum(list(terms), gates)

    torch.testing.assert_close(dropped(gates, *terms), by_hand(terms, gates, 0.5, seeded()))
    assert torch.autograd.gradcheck(dropped, (gates, *terms))
    assert torch.autograd.gradgradcheck(dropped, (gates, *terms))


@pytest.mark.parametrize("zero", [False, True])
def test_slopes_and_powers_are_those_of_what_was_not_dropped(zero: bool) -> None:
    """Two sums share a term and a gate: slopes against a backward pass per sample, powers against their definition."""
    terms = values(3, 4, 3, 2, 2)
    gates = torch.rand(6, dtype=torch.float64, requires_grad=True)
    several = slice(1, 4 if zero else 3)

    def loss(total: Tensor) -> Tensor:
        return total.square().flatten(1).sum(1)

    generator = seeded()
    first = by_hand(terms[:2], gates[several], 0.4, generator)
    losses = loss(by_hand([first.tanh(), terms[2], terms[0]], gates[3:6], 0.4, generator))
    expected = [torch.autograd.grad(one, gates, retain_graph=True)[0] for one in losses]
    with watched(Watch()) as watch, dropping(0.4, seeded()):
        first = gated_sum(terms[:2], gates[several])
        total = loss(gated_sum([first.tanh(), terms[2], terms[0]], gates[3:6])).sum()
    torch.autograd.backward([total])  # outside, as a training step has it
    torch.testing.assert_close(watch.slopes(gates), torch.stack(expected))

    sums = terms[:1]
    with watched(Watch()) as watch, dropping(0.4, seeded()):
        gated_sum(sums, gates[:2])
    multiplied = [by_hand(sums, torch.ones(1), 0.4, seeded()), by_hand(sums, gates[:1], 0.4, seeded())]
    powers = watch.powers(gates[:2])
    torch.testing.assert_close(powers, torch.stack([value.square().mean() for value in multiplied]).detach())


def test_a_value_of_several_terms_is_dropped_in_each() -> None:
    shared = torch.ones(400)
    with dropping(0.5, seeded()):
        one_sum = gated_sum([shared, shared], torch.ones(2))
        other = gated_sum([shared], torch.ones(1))
    assert set(one_sum.tolist()) == {0, 2, 4}
    assert not torch.equal(one_sum > 0, other > 0)


def test_nothing_is_dropped_elsewhere_or_with_probability_0() -> None:
    terms = values(2, 50, 3)
    gates = torch.rand(2, dtype=torch.float64)
    plain = gated_sum(terms, gates)
    state = torch.get_rng_state()
    with dropping(0.5), dropping(0.0):
        torch.testing.assert_close(gated_sum(terms, gates), plain, rtol=0, atol=0)
    assert torch.equal(torch.get_rng_state(), state), "no random number is drawn"
    with pytest.raises(KeyError), dropping(0.5):
        raise KeyError
    torch.testing.assert_close(gated_sum(terms, gates), plain, rtol=0, atol=0)


def test_random_numbers_are_those_of_the_generator_or_of_torch() -> None:
    terms, gates = values(2, 50, 3), torch.ones(2, dtype=torch.float64)

    def dropped(generator: torch.Generator | None) -> Tensor:
        with dropping(0.5, generator):
            return gated_sum(terms, gates)

    assert torch.equal(dropped(seeded()), dropped(seeded()))
    assert not torch.equal(dropped(seeded()), dropped(seeded(1)))
    torch.manual_seed(3)
    first = dropped(None)
    torch.manual_seed(3)
    assert torch.equal(dropped(None), first)
    assert not torch.equal(dropped(None), first)


@pytest.mark.parametrize("probability", [-0.1, 1.0, float("nan")])
def test_probabilities(probability: float) -> None:
    with pytest.raises(ValueError, match="at least 0 and less than 1"), dropping(probability):
        pass


@pytest.mark.parametrize("form", [torch.contiguous_format, torch.channels_last])
def test_the_memory_format_is_kept(form: torch.memory_format) -> None:
    terms = [torch.randn(2, 3, 4, 5).contiguous(memory_format=form).requires_grad_() for _ in range(2)]
    with dropping(0.5):
        total = gated_sum(terms, torch.ones(3))
    assert total.is_contiguous(memory_format=form)
    assert all(g.is_contiguous(memory_format=form) for g in torch.autograd.grad(total, terms, torch.ones_like(total)))


@pytest.mark.parametrize("fuse", [False, True])
def test_a_network_drops_candidates_however_it_is_compiled(fuse: bool) -> None:
    """A choice with all candidates dropped for a sample gives zero for it."""
    text = body("x -> out : choose { conv(3) > bn(false), conv(3) > relu, max_pool(3), identity }")
    network = Supernet.of(passes.run(graph(text), passes.SWITCHES), fuse=fuse).module
    x = torch.randn(64, 3, 8, 8)
    with dropping(0.5, seeded()):
        outputs = network(x)
    factors = torch.rand(4, 64, generator=seeded()) >= 0.5
    assert torch.equal(outputs.flatten(1).any(1), factors.any(0))
    assert 0 < int(factors.any(0).sum()) < 64
