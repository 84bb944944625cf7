"""The prior of weight groups: its update against the published formulas, and the penalty step."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.bayes import LARGEST
from bayesnas_graph.train.compress.groups import Groups, groups_of
from bayesnas_graph.train.compress.prior import (
    TOLERANCE,
    data_variances,
    removal_costs,
    settled,
    shrink_towards_zero,
    updated,
)
from tests.train.compress.small import Weights, net, random_weights

NETWORK = net("x -> out : conv(4, bias = true) > bn > relu > conv(4, groups = 2) > flatten > linear(5)")
SETS = groups_of(NETWORK, {"conv": "filter,channel,row+column", "linear": "column"})
LAMBDA = 0.01


def like(weights: Weights, seed: int, zeros: float = 0.0) -> Weights:
    """Random tensors of the same shapes, with some zeros."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(value: Tensor) -> Tensor:
        found = torch.rand(value.shape, generator=generator, dtype=torch.float64)
        return found * (torch.rand(value.shape, generator=generator) >= zeros)

    return {node: {name: drawn(value) for name, value in named.items()} for node, named in weights.items()}


def ones(weights: Weights) -> Weights:
    return {node: {name: torch.ones_like(value) for name, value in named.items()} for node, named in weights.items()}


def members(groups: Groups, weights: Weights) -> list[list[tuple[str, str, int]]]:
    """The entries of every group, by node, name and index."""
    count = groups.norms(weights).numel()
    shape = groups.norms(weights).shape
    found: list[list[tuple[str, str, int]]] = [[] for _ in range(count)]
    for node, name, part in groups.spread(torch.arange(count).view(shape), weights):
        for i, group in enumerate(part.flatten().tolist()):
            found[group].append((node, name, i))
    return found


def printed(groups: Groups, gamma: Tensor, weights: Weights, h: Weights, kept: Weights) -> tuple[Tensor, Tensor]:
    """`C = 1/(1/gamma + H)`, `alpha = (gamma - C)/gamma^2`, `omega^2` their sum, `gamma = |W|/omega`, in fractions."""
    variances, omegas = [], []
    for g, entries in zip(map(Fraction, gamma.flatten().tolist()), members(groups, weights), strict=True):
        total = norm = Fraction(0)
        for node, name, i in entries:
            w, curvature, is_kept = (float(which[node][name].flatten()[i]) for which in (weights, h, kept))
            norm += Fraction(w) ** 2
            c = 1 / (1 / g + Fraction(max(0.0, curvature)) / Fraction(LAMBDA))
            total += (g - c) / g**2 * int(is_kept)
        omegas.append(float(total) ** 0.5)
        variances.append(float(norm / total) ** 0.5 if total else LARGEST)
    return torch.tensor(variances, dtype=torch.float64), torch.tensor(omegas, dtype=torch.float64)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**16))
def test_the_formulas_as_they_are_printed(seed: int) -> None:
    weights = random_weights(NETWORK, seed)
    h, some = like(weights, seed + 1, 0.2), SETS[seed % len(SETS)]
    kept = {node: {name: v.sign() for name, v in named.items()} for node, named in like(weights, seed, 0.2).items()}
    gamma = like({"": {"": some.norms(weights)}}, seed)[""][""] + 0.01
    found = updated(some, gamma, weights, h, kept, LAMBDA)
    variances, omegas = printed(some, gamma, weights, h, kept)
    torch.testing.assert_close(found.omega.flatten(), omegas)
    torch.testing.assert_close(found.gamma.flatten(), variances)


def test_where_the_data_say_nothing() -> None:
    """Such a group has no penalty, and its variance is limited only by the number format."""
    weights = random_weights(NETWORK)
    nothing = {node: {name: torch.zeros_like(v) for name, v in named.items()} for node, named in weights.items()}
    for some in SETS:
        found = settled(some, weights, nothing, ones(weights), LAMBDA)
        assert set(found.omega.flatten().tolist()) == {0.0}
        assert set(found.gamma.flatten().tolist()) == {LARGEST}


def test_weights_that_are_zero_have_no_variance() -> None:
    weights = random_weights(NETWORK)
    for some in SETS:
        gone = {node: {name: torch.zeros_like(v) for name, v in named.items()} for node, named in weights.items()}
        found = settled(some, gone, ones(weights), ones(weights), LAMBDA)
        assert set(found.gamma.flatten().tolist()) == {0.0}
        assert bool(found.omega.isfinite().all())


def test_a_curvature_below_zero_counts_as_none() -> None:
    weights, some = random_weights(NETWORK), SETS[0]
    h = like(weights, 1)
    h["conv"]["weight"] -= 0.5
    clamped = {**h, "conv": {**h["conv"], "weight": h["conv"]["weight"].clamp(min=0)}}
    one, other = (settled(some, weights, which, ones(weights), LAMBDA) for which in (h, clamped))
    assert torch.equal(one.omega, other.omega)
    assert torch.equal(removal_costs(some, weights, h), removal_costs(some, weights, clamped))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@given(
    sizes=st.lists(st.sampled_from([0.0, 1e-30, 1e-12, 1.0, 1e12, 1e17]), min_size=4, max_size=4),
)
def test_numbers_stay_finite(dtype: torch.dtype, sizes: list[float]) -> None:
    weight, curvature, variance, intensity = sizes
    some = Groups("fc", "c")
    shape = (3, 2)
    weights, h = ({"fc": {"weight": torch.full(shape, value, dtype=dtype)}} for value in (weight, curvature))
    gamma, intensity = torch.full_like(some.norms(weights), variance), max(intensity, 1e-12)
    once = updated(some, gamma, weights, h, ones(weights), intensity)
    for prior in (once, settled(some, weights, h, ones(weights), intensity)):
        assert bool(prior.omega.isfinite().all())
        assert bool(prior.gamma.isfinite().all())
        assert bool((prior.omega >= 0).all())


def test_the_fixed_point_where_the_data_say_much() -> None:
    """There `omega^2` is `g / gamma` in a group of `g` weights; with `gamma = |W| / omega`, `omega` is `g / |W|`."""
    weights = random_weights(NETWORK)
    much = {node: {name: torch.full_like(v, 1e9) for name, v in named.items()} for node, named in weights.items()}
    for some in SETS:
        prior = settled(some, weights, much, ones(weights), LAMBDA)
        size = some.sums(lambda node, name: torch.ones_like(weights[node][name]))
        torch.testing.assert_close(prior.omega, size / some.norms(weights), rtol=2 * TOLERANCE, atol=0)
        torch.testing.assert_close(prior.gamma, some.norms(weights).square() / size, rtol=2 * TOLERANCE, atol=0)


def test_a_settled_prior_solves_both_equations() -> None:
    weights = random_weights(NETWORK)
    h = like(weights, 3, 0.1)
    for some in SETS:
        prior = settled(some, weights, h, ones(weights), LAMBDA)
        again = updated(some, prior.gamma, weights, h, ones(weights), LAMBDA)
        torch.testing.assert_close(again.gamma, prior.gamma, rtol=2 * TOLERANCE, atol=0)
        torch.testing.assert_close(prior.gamma, some.norms(weights) / prior.omega)


# ------------------------------------------------------------------------------ the step of the penalty


@settings(max_examples=30)
@given(seed=st.integers(0, 2**16), threshold=st.floats(0, 3))
def test_the_step_against_a_search_for_the_minimum(seed: int, threshold: float) -> None:
    """It minimises `|w - v|^2 / 2 + t |w|`, and the minimum lies on the ray of `v`."""
    some, v = Groups("fc", "c"), torch.rand(4, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    weights = {"fc": {"weight": v.clone()}}
    shrink_towards_zero(some, weights, torch.full((1, 1, 3, 1, 1), threshold, dtype=v.dtype), spare_last=False)
    for column in range(3):
        before, after = v[:, column], weights["fc"]["weight"][:, column]

        def objective(w: Tensor, before: Tensor = before) -> float:
            return float((w - before).square().sum() / 2 + threshold * w.norm())

        low, high = 0.0, 1.0
        for _ in range(80):  # a convex function on a line
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if objective(left * before) < objective(right * before) else (left, high)
        assert objective(after) <= objective(low * before) + 1e-12
        generator = torch.Generator().manual_seed(seed)
        for _ in range(5):
            aside = after + 1e-3 * torch.randn(4, generator=generator, dtype=v.dtype)
            assert objective(after) < objective(aside)
        if threshold >= float(before.norm()):
            assert not after.any(), "exactly zero"


def test_each_group_has_its_threshold_and_what_is_in_it_keeps_its_direction() -> None:
    weights = random_weights(NETWORK)
    some = SETS[0]
    assert some.shares == "n"
    assert len(some.companions) == 3
    before = {node: {name: value.clone() for name, value in named.items()} for node, named in weights.items()}
    norms = some.norms(weights)
    part = torch.tensor([0.0, 0.25, 0.75, 2.0], dtype=torch.float64).view_as(norms)
    shrink_towards_zero(some, weights, part * norms, spare_last=False)
    left = torch.tensor([1.0, 0.75, 0.25, 0.0], dtype=torch.float64)
    for node, named in weights.items():
        for name, value in named.items():
            factor = left.view(-1, *[1] * (value.ndim - 1)) if (node, name) in some.tensors else 1
            torch.testing.assert_close(value, before[node][name] * factor)


@pytest.mark.parametrize("spare_last", [True, False])
def test_the_strongest_is_spared_where_none_would_be_left(spare_last: bool) -> None:
    weights = {"fc": {"weight": torch.tensor([[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]])}}
    some = Groups("fc", "c")
    shrink_towards_zero(some, weights, torch.full((1, 1, 3, 1, 1), 100.0), spare_last=spare_last)
    assert weights["fc"]["weight"].any(0).tolist() == [False, spare_last, False]
    weights = {"fc": {"weight": torch.tensor([[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]])}}
    thresholds = torch.tensor([100.0, 100.0, 0.0]).view(1, 1, 3, 1, 1)
    shrink_towards_zero(some, weights, thresholds, spare_last=spare_last)
    assert weights["fc"]["weight"].any(0).tolist() == [False, False, True], "one is left anyway"


def test_zero_stays_zero() -> None:
    weights = {"fc": {"weight": torch.zeros(2, 3)}}
    for threshold in (0.0, 1.0):
        for spare in (True, False):
            shrink_towards_zero(Groups("fc", "c"), weights, torch.full((1, 1, 3, 1, 1), threshold), spare_last=spare)
            assert weights["fc"]["weight"].tolist() == [[0.0] * 3] * 2


# --------------------------------------------------------------------------------- what a removal costs


def test_what_a_removal_costs() -> None:
    """Half the sum of `h w^2` over the removed weights."""
    weights = random_weights(NETWORK)
    h = like(weights, 4)
    for some in SETS:
        by_loops = [
            sum(float(h[n][k].flatten()[i]) * float(weights[n][k].flatten()[i]) ** 2 for n, k, i in entries) / 2
            for entries in members(some, weights)
        ]
        found = removal_costs(some, weights, h).flatten()
        torch.testing.assert_close(found, torch.tensor(by_loops, dtype=torch.float64))


def test_variances_in_the_unit_of_the_data_do_not_change_with_units() -> None:
    """Halving weights and doubling their inputs gives the same network, with four times the curvature."""
    some = Groups("fc", "c")
    generator = torch.Generator().manual_seed(0)
    weight, curvature = (torch.rand(4, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    found = []
    for unit in (1.0, 0.5, 8.0):
        weights, h = {"fc": {"weight": weight * unit}}, {"fc": {"weight": curvature / unit**2}}
        prior = settled(some, weights, h, ones(weights), LAMBDA)
        found.append(data_variances(some, prior, weights, h, LAMBDA))
    torch.testing.assert_close(found[0], found[1], rtol=10 * TOLERANCE, atol=0)
    torch.testing.assert_close(found[0], found[2], rtol=10 * TOLERANCE, atol=0)
