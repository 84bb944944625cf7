"""One update: by hand, against exact arithmetic, and its properties."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, nan

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.bayes import (
    LARGEST,
    State,
    Structure,
    Switches,
    omega_squared,
    one_hop,
    posterior_variance,
    strength,
    update,
    whole_path,
)
from bayesnas_graph.ir import Graph
from tests.bayes.numbers import DTYPES, cell_used, exact, extreme, grouped_graphs, lonely, tensors
from tests.bayes.test_dependency import FORMS, Calls, both_places, from_text, recursion
from tests.passes.analysis.test_dependency import stack
from tests.programs import programs

Form = Callable[[Structure, Tensor], Tensor]


def double(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


# ----------------------------------------------------------------------------------------- by hand


def test_one_switch() -> None:
    switches = Switches.of(lonely(1))
    state = update(switches, double(1), double(0.3), double(0.5), double(0.1))
    h = 0.3 / 0.1
    assert state.omega.item() == pytest.approx((h / (1 + h)) ** 0.5)
    assert state.s.item() == pytest.approx(0.5 / (h / (1 + h)) ** 0.5)
    assert state.gamma.item() == state.s.item(), "it depends on nothing"
    again = update(switches, state.gamma, double(0.3), double(0.5), double(0.1))
    assert again.omega.item() == pytest.approx((h / (1 + state.gamma.item() * h)) ** 0.5)


def test_both_forms_of_omega() -> None:
    gamma, h = torch.rand(100, dtype=torch.float64) + 0.1, torch.rand(100, dtype=torch.float64) + 0.1
    printed = (gamma - posterior_variance(gamma, h)) / gamma.square()
    torch.testing.assert_close(omega_squared(gamma, h), printed)
    torch.testing.assert_close(omega_squared(gamma, h), h / (1 + gamma * h))


def test_a_group_adds_up_its_members() -> None:
    switches = Switches.of(cell_used(2))
    h = double(1, 2, 3, 4, 5, 6, 7, 8)
    w = double(1, 0, 1, 1, 2, 0, 1, 1)
    gamma = double(1, 2, 3, 4)
    state = update(switches, gamma, h, w, switches.by_kind(1, 2))
    assert state.omega.tolist() == pytest.approx(
        [
            (1 / 2 + 5 / 6) ** 0.5,
            (2 / 5 + 6 / 13) ** 0.5,
            (3 / 10 + 7 / 22) ** 0.5,
            (2 / 9 + 4 / 17) ** 0.5,  # a zero switch, for which the intensity is 2
        ]
    )
    assert (state.s * state.omega).tolist() == pytest.approx([5**0.5, 0, 2**0.5, 2**0.5])
    assert state.gamma[1] == 0


def test_the_start() -> None:
    state = State.start(Switches.of(cell_used(2)), torch.float32)
    assert state.gamma.tolist() == state.omega.tolist() == state.s.tolist() == [1] * 4
    assert state.gamma.dtype == torch.float32


# ---------------------------------------------------------------------------------------- oddities


def test_what_the_data_say_nothing_about() -> None:
    switches = Switches.of(lonely(4))
    state = update(switches, double(1, 1, 1, 1), double(0, 0, 1e-30, 1), double(1, 0, 1, 1), torch.ones(4))
    assert state.undetermined.tolist() == [0, 1, 2]
    assert state.omega[:2].tolist() == [0, 0]
    assert state.s.tolist()[:3] == [LARGEST, 0, LARGEST]
    assert state.gamma.tolist()[:3] == [LARGEST, 0, LARGEST]


def test_one_member_that_is_determined_is_enough() -> None:
    switches = Switches.of(cell_used(2))
    state = update(switches, torch.ones(4), double(0, 1, 1, 1, 1, 1, 1, 1).float(), torch.ones(8), torch.ones(4))
    assert state.undetermined.tolist() == []
    assert state.omega[0].item() == pytest.approx(0.5**0.5)


def test_negative_and_infinite_curvatures_are_reported() -> None:
    switches = Switches.of(lonely(4))
    state = update(switches, torch.ones(4), torch.tensor([-1.0, inf, 1e38, 1]), torch.ones(4), torch.full((4,), 1e-3))
    assert (state.negative.tolist(), state.infinite.tolist()) == ([0], [1, 2])
    assert state.undetermined.tolist() == [0]
    assert state.omega.tolist() == pytest.approx([0, 1, 1, 1], rel=1e-3)


@pytest.mark.parametrize(("h", "w"), [(nan, 1.0), (1.0, nan), (1.0, inf)])
def test_nan_is_rejected(h: float, w: float) -> None:
    with pytest.raises(ValueError, match=r"1 gates .* y\.1"):
        update(Switches.of(lonely(2)), torch.ones(2), torch.tensor([1, h]), torch.tensor([1, w]), torch.ones(2))


@pytest.mark.parametrize("intensity", [0.0, -1.0, inf, nan])
def test_an_intensity_is_positive(intensity: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        update(Switches.of(lonely(1)), torch.ones(1), torch.ones(1), torch.ones(1), torch.tensor([intensity]))


# -------------------------------------------------------------------------- against exact arithmetic


def root(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def oracle(made: Graph, gamma: Tensor, h: Tensor, w: Tensor, lambda_w: Tensor, whole: bool) -> list[list[Fraction]]:
    """Omega, s and gamma by their definitions, one switch at a time."""
    gates = list(dict.fromkeys(made.gates))
    groups = list(dict.fromkeys(gate.group for gate in gates))
    omega, s = [], []
    for i, group in enumerate(groups):
        members = [n for n, gate in enumerate(gates) if gate.group == group]
        variance, intensity = exact(gamma)[i], exact(lambda_w.to(h.dtype))[i]
        curvatures = [exact(h)[n] / intensity for n in members]
        omega.append(root(sum((one / (1 + variance * one) for one in curvatures), Fraction(0))))
        norm = root(sum((exact(w)[n] ** 2 for n in members), Fraction(0)))
        unbounded = omega[i] * Fraction(LARGEST) <= norm
        s.append(Fraction(0) if norm == 0 else Fraction(LARGEST) if unbounded else norm / omega[i])
    by_edge = recursion(made, [s[groups.index(gate.group)] for gate in made.gates], whole)
    found = [Fraction(0)] * len(groups)
    for gate, value in zip(made.gates, by_edge, strict=True):
        found[groups.index(gate.group)] = max(found[groups.index(gate.group)], Fraction(value))
    return [omega, s, found]


def compare(made: Graph, data: st.DataObject, dtype: torch.dtype) -> None:
    switches = Switches.of(made)
    gates, groups = len(switches.gates), len(switches.groups)
    gamma, h, w = (data.draw(tensors(extreme, count, dtype)) for count in (groups, gates, gates))
    lambda_w = switches.by_kind(*data.draw(st.sampled_from([(1.0, 1.0), (0.05, 0.02)])))
    rtol, atol = (1e-9, 1e-300) if dtype == torch.float64 else (1e-4, 1e-36)
    for form in FORMS:
        state = update(switches, gamma, h, w, lambda_w, form)
        truths = oracle(made, gamma, h, w, lambda_w, form is whole_path)
        for value, truth in zip((state.omega, state.s, state.gamma), truths, strict=True):
            assert value.dtype == dtype
            expected = torch.tensor(list(map(float, truth)), dtype=dtype)
            torch.testing.assert_close(value, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_graphs(dtype: torch.dtype) -> None:
    @settings(max_examples=50)
    @given(made=grouped_graphs(), data=st.data())
    def agrees(made: Graph, data: st.DataObject) -> None:
        compare(made, data, dtype)

    agrees()


@settings(max_examples=15)
@given(text=programs(fault=0), data=st.data())
def test_random_programs(text: str, data: st.DataObject) -> None:
    for made in from_text(text):
        for placed in both_places(made):
            if len(placed.gates) < 60:  # exact arithmetic takes its time
                compare(placed, data, torch.float64)


# --------------------------------------------------------------------------------------------- laws


@pytest.mark.parametrize("dtype", DTYPES)
def test_laws(dtype: torch.dtype) -> None:
    @given(made=grouped_graphs(), data=st.data())
    def obeyed(made: Graph, data: st.DataObject) -> None:
        switches = Switches.of(made)
        gates, groups = len(switches.gates), len(switches.groups)
        gamma, h, w = (data.draw(tensors(extreme, count, dtype)) for count in (groups, gates, gates))
        before = gamma.clone(), h.clone(), w.clone()
        one, whole = (update(switches, gamma, h, w, switches.by_kind(0.05, 0.02), form) for form in FORMS)
        assert all(map(torch.equal, (gamma, h, w), before)), "what is given stays as it is"
        for value in (one.gamma, one.omega, one.s, whole.gamma):
            assert value.isfinite().all()
            assert (value >= 0).all()
        assert (one.gamma <= one.s).all()
        assert (whole.gamma <= one.gamma).all()
        assert (one.s <= LARGEST).all()
        assert torch.equal(one.s, whole.s)
        again = update(switches, one.gamma, h, w, switches.by_kind(0.05, 0.02))
        assert (again.omega.isfinite() & again.gamma.isfinite()).all()
        nothing = group_is(switches, h == 0)
        assert set(nothing.nonzero().flatten().tolist()) <= set(one.undetermined.tolist())
        assert (one.omega[nothing] == 0).all()
        assert (one.gamma[group_is(switches, w == 0)] == 0).all()

    obeyed()


def group_is(switches: Switches, of_gates: Tensor) -> Tensor:
    """The groups in which all gates satisfy a condition."""
    no = torch.zeros(len(switches.groups)).index_add_(0, switches.group, (~of_gates).float())
    return no == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_group_of_one_is_the_plain_rule(dtype: torch.dtype) -> None:
    @given(data=st.data())
    def equal(data: st.DataObject) -> None:
        switches = Switches.of(lonely(5))
        gamma, h, w = (data.draw(tensors(extreme, 5, dtype)) for _ in range(3))
        state = update(switches, gamma, h, -w, torch.full((5,), 0.5))
        omega = omega_squared(gamma, h / 0.5).sqrt()
        assert torch.equal(state.omega, omega)
        assert torch.equal(state.s, strength(w.abs(), omega))

    equal()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_posterior_is_never_wider(dtype: torch.dtype) -> None:
    @given(data=st.data())
    def obeyed(data: st.DataObject) -> None:
        gamma, h = (data.draw(tensors(extreme, 4, dtype)) for _ in range(2))
        variance = posterior_variance(gamma, h)
        assert ((variance >= 0) & (variance <= gamma)).all()
        truth = [0.0 if g == 0 else float(1 / (1 / g + c)) for g, c in zip(exact(gamma), exact(h), strict=True)]
        torch.testing.assert_close(variance, torch.tensor(truth, dtype=dtype), rtol=1e-6, atol=0)

    obeyed()


def test_nothing_into_a_node_is_nothing_out_of_it() -> None:
    made = stack(4, 3, 2)
    switches = Switches.of(made)
    w = torch.tensor([0.0 if name.startswith("1.") else 1.0 for name in switches.gates])
    ones = torch.ones(len(w))
    off = {form: update(switches, ones, ones, w, ones, form).gamma == 0 for form in FORMS}
    layers = [int(name[0]) for name in switches.gates]
    assert off[one_hop].tolist() == [layer in (1, 2) for layer in layers]
    assert off[whole_path].tolist() == [layer in (1, 2, 3) for layer in layers]


# --------------------------------------------------------------------------------------------- size


def test_more_switches_take_no_more_calls() -> None:
    counts = []
    for width in (1, 40):
        switches = Switches.of(stack(6, width, 3))
        ones = torch.ones(len(switches.gates))
        counter = Calls()
        with counter:
            update(switches, ones, ones, ones, ones)
        counts.append(counter.count)
    assert counts[0] == counts[1]


def test_a_hundred_thousand_switches() -> None:
    switches = Switches.of(stack(50, 400, 5))
    ones = torch.ones(len(switches.gates))
    state = update(switches, ones, ones, ones, torch.full_like(ones, 0.05))
    assert len(state.gamma) == 100_000
    assert state.gamma.isfinite().all()
