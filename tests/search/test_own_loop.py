"""Curvatures in a training loop of one's own, with losses and modules around the supernet; autograd is the oracle."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph import api
from bayesnas_graph.bayes import BinaryCrossEntropy, CrossEntropy, Loss, SquaredError
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.search.own_loop import measured
from bayesnas_graph.search.prior import Prior
from tests.helpers import body, network

TEXT = body(
    "x -> out : conv(3) > choose { conv(), tanh, identity } > global_avg_pool > linear(4)",
    "image(2, 6, 6) -> classes(4)",
)
Forward = Callable[[Tensor], Tensor]
hessian_of: Callable[[Forward, Tensor], Tensor] = torch.autograd.functional.hessian
jacobian_of: Callable[[Forward, Tensor], Tensor] = torch.autograd.functional.jacobian


def supernet() -> Supernet:
    torch.manual_seed(0)
    net = api.compile(network(TEXT)).double()
    net.set_gates(torch.rand(len(net.names), dtype=torch.float64) + 0.5)
    return net


def inputs(count: int = 5) -> Tensor:
    return torch.randn(count, 2, 6, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def own_head() -> nn.Module:
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.5), nn.Linear(6, 3)).double()


def with_gates(net: Supernet, forward: Forward) -> Callable[[Tensor], Tensor]:
    """The outputs as a function of all gates, for autograd."""
    (parameter,) = net.gate_parameters()
    name = next(name for name, one in net.named_parameters() if one is parameter)
    known = dict(net.named_parameters())

    def outputs(gates: Tensor) -> Tensor:
        stored = torch.empty_like(gates).index_copy(0, net.order, gates)
        module, _, last = name.rpartition(".")
        owner = net.get_submodule(module)
        del owner._parameters[last]
        setattr(owner, last, stored)
        try:
            return forward(inputs())
        finally:
            delattr(owner, last)
            owner.register_parameter(last, known[name])

    return outputs


LOSSES = [
    (CrossEntropy(), torch.tensor([0, 2, 1, 0, 2])),
    (SquaredError(), torch.linspace(-1, 1, 15, dtype=torch.float64).view(5, 3)),
    (BinaryCrossEntropy(), (torch.arange(15).view(5, 3) % 2).double()),
]


@pytest.mark.parametrize(("loss", "targets"), LOSSES)
def test_exact_and_gauss_newton_through_a_head_are_those_of_autograd(loss: Loss, targets: Tensor) -> None:
    net, head = supernet(), own_head()
    resting = own_head().eval()
    outputs = with_gates(net, lambda x: resting(net.eval()(x)))
    hessian = hessian_of(lambda gates: loss(outputs(gates), targets), net.gates)
    exact = measured(net, [(inputs(), targets)], loss, "exact", head=head)
    torch.testing.assert_close(exact.h, hessian.diagonal())
    jacobian = jacobian_of(outputs, net.gates)  # samples x outputs x gates
    predicted = outputs(net.gates).detach()
    expected = torch.zeros_like(net.gates)
    for i in range(5):
        at = hessian_of(partial(loss, targets=targets[i : i + 1]), predicted[i : i + 1])
        expected += (jacobian[i].T @ at.view(3, 3) @ jacobian[i]).diagonal() / 5
    ggn = measured(net, [(inputs(), targets)], loss, "ggn", head=head)
    torch.testing.assert_close(ggn.h, expected)
    assert (expected > 0).all()
    assert net.training is False
    assert head.training  # as before


def test_a_model_is_a_function_that_calls_the_supernet() -> None:
    net, head, stem = supernet(), own_head().eval(), nn.Conv2d(2, 2, 1).double()
    batches = [(inputs(), LOSSES[1][1])]
    by_head = measured(net, batches, SquaredError(), "ggn", head=head).h
    torch.testing.assert_close(measured(net, batches, SquaredError(), "ggn", model=lambda x: head(net(x))).h, by_head)
    with_stem = measured(net, batches, SquaredError(), "ggn", model=lambda x: head(net(stem(x)))).h
    assert not torch.allclose(with_stem, by_head)


def test_any_mean_is_a_loss_for_exact_and_empirical() -> None:
    net, targets = supernet(), torch.rand(5, 4, dtype=torch.float64)
    for estimator in ("exact", "empirical"):
        found, expected = (
            measured(net, [(inputs(), targets)], loss, estimator).h for loss in (F.mse_loss, SquaredError())
        )
        torch.testing.assert_close(found, expected)


def test_the_loss_and_the_head_change_what_is_believed() -> None:
    gammas = []
    for loss, targets, head in (
        (CrossEntropy(), torch.tensor([0, 2, 1, 0, 2]), None),
        (SquaredError(), torch.rand(5, 4, dtype=torch.float64), None),
        (SquaredError(), torch.rand(5, 3, dtype=torch.float64), own_head()),
    ):
        net = supernet()
        prior = Prior(net)
        prior.update(net, [(inputs(), targets)], loss, "ggn", head=head)
        gammas.append(prior.state.gamma)
    assert not torch.equal(gammas[0], gammas[1])
    assert not torch.equal(gammas[1], gammas[2])


def test_a_prior_is_saved_and_continues() -> None:
    net, targets = supernet(), LOSSES[0][1]
    prior = Prior(net, intensity=0.7, rate=0.2)
    prior.update(net, [(inputs(), targets)], CrossEntropy(), "ggn")
    file = io.BytesIO()
    torch.save(prior.state_dict(), file)
    file.seek(0)
    other = Prior(net)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert other.penalty(net) == prior.penalty(net)
    gates, after = net.gates, []
    for one in (prior, other):
        net.set_gates(gates)
        net.zero_grad()
        torch.autograd.backward([CrossEntropy()(net(inputs()), targets)])
        one.step(net)
        after.append(net.gates)
        one.update(net, [(inputs(), targets)], CrossEntropy(), "ggn")
    assert torch.equal(*after)
    assert torch.equal(prior.state.gamma, other.state.gamma)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["switches"].pop(),
        lambda state: state.pop("gamma"),
        lambda state: state.update(units=state["units"][1:]),
        lambda state: state.update(omega="1"),
        lambda state: state.update(s=state["s"].half()),
    ],
)
def test_states_that_do_not_fit_are_refused(change: Callable[[dict[str, Any]], object]) -> None:
    prior = Prior(supernet())
    state = prior.state_dict()
    change(state)
    with pytest.raises(NasError) as error:
        prior.load_state_dict(state)
    assert error.value.diagnostics[0].code == "NAS802"


F64 = torch.float64
WRONG = [
    (CrossEntropy(), torch.zeros(5, dtype=F64), "int64"),  # a regression
    (CrossEntropy(), torch.zeros(5, 4, dtype=F64), "add up to 1"),
    (CrossEntropy(), torch.zeros(5, dtype=torch.int32), "int64"),
    (CrossEntropy(), torch.full((5,), 4), "4 classes"),
    (CrossEntropy(), torch.full((5,), -1), "4 classes"),
    (CrossEntropy(), torch.zeros(5, 4, dtype=torch.long), "shape"),
    (SquaredError(), torch.zeros(5, dtype=F64), "shape of the outputs"),
    (SquaredError(), torch.zeros(5, 1, dtype=F64), "shape of the outputs"),
    (SquaredError(), torch.zeros(5, 4, dtype=torch.long), "float64"),
    (SquaredError(), torch.zeros(5, 4), "float64"),
    (SquaredError(), torch.zeros(4, 4, dtype=F64), "5 inputs and 4 targets"),
    (SquaredError(), torch.tensor(0.0, dtype=F64), "no targets"),
    (SquaredError(), [0.0] * 5, "`list`"),
    (BinaryCrossEntropy(), torch.full((5, 4), 2.0, dtype=F64), "from 0 to 1"),
]


@pytest.mark.parametrize(("loss", "targets", "words"), WRONG)
def test_targets_that_do_not_fit_are_refused(loss: Loss, targets: Any, words: str) -> None:
    net = supernet()
    prior = Prior(net)
    before = prior.state
    with pytest.raises(NasError, match=words) as error:
        prior.update(net, [(inputs(), targets)], loss)
    assert error.value.diagnostics[0].code == "NAS801"
    assert prior.state is before


def test_models_that_cannot_be_measured_are_refused() -> None:
    net = supernet()
    batches = [(inputs(), torch.zeros(5, 4, dtype=F64))]
    models: list[tuple[Forward, str]] = [
        (lambda x: net(x.repeat(3, 1, 1, 1))[:1], "with 3 rows"),
        (lambda x: net(x) + net(x), "2 times"),
        (lambda x: x.flatten(1)[:, :4], "0 times"),
        (lambda x: net(x).sum(), "outputs of shape"),
    ]
    for model, words in models:
        with pytest.raises(NasError, match=words):
            Prior(net).update(net, batches, SquaredError(), model=model)
    with pytest.raises(NasError, match="no batches"):
        Prior(net).update(net, [], SquaredError())


def test_estimators_say_what_they_cannot_do() -> None:
    net = supernet()
    batches = [(inputs(), torch.zeros(5, 4, dtype=F64))]
    with pytest.raises(NasError, match="`mse_loss` does not have"):
        Prior(net).update(net, batches, F.mse_loss)
    with pytest.raises(NasError, match="modules around the supernet"):
        Prior(net).update(net, batches, SquaredError(), "recursive", head=nn.Identity())
    with pytest.raises(NasError, match="no estimator"):
        Prior(net).update(net, batches, SquaredError(), "other")  # type: ignore[arg-type]
    with pytest.raises(NasError, match="cannot be computed"):
        Prior(net).update(net, [(inputs(), torch.zeros(5, 7))], F.cross_entropy, "empirical")
