"""The scaler of gradients does what torch's own does, and no step of it waits for the device."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph.runs.optimizer import memory_of, new_optimiser, remember
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runs.step import apply_gradients, unscale
from bayesnas_graph.runtime import use_channels_last
from tests.search.spaces import config
from tests.search.stand_in import CPU, DEVICE, recorded, stand_in

OVERFLOWS = {0: math.inf, 3: math.nan, 4: -math.inf, 9: math.inf}  # the first step is one of them, as it often is
STEPS = 12
EARLY: dict[str, float] = {  # doubles soon
    "scale": 2.0**12,
    "growth_factor": 2.0,
    "backoff_factor": 0.5,
    "growth_interval": 3,
    "_growth_tracker": 0,
}
OPTIMISERS: list[dict[str, Any]] = [
    {"optimiser": "sgd", "momentum": 0.9, "nesterov": False},
    {"optimiser": "sgd", "momentum": 0.9, "nesterov": True, "clip": 0.5},
    {"optimiser": "sgd", "momentum": 0.0},
    {"optimiser": "adamw", "clip": 0.5},
]


class Training:
    """A linear layer, an optimizer and a scaler."""

    def __init__(self, settings: dict[str, Any], scaler: Any, device: torch.device, *, fused: bool) -> None:
        torch.manual_seed(0)
        self.config = config(weight_decay=0.01, **settings)
        self.layer: nn.Linear | nn.Conv2d = nn.Linear(5, 3).to(device)
        self.optimiser = new_optimiser(self.config, list(self.layer.parameters()), fused=fused)
        self.scaler = scaler

    def step(self, x: Tensor, spoilt: float) -> None:
        """Take a step; a number that is not finite is put into the gradients if there is one."""
        self.optimiser.zero_grad()
        torch.autograd.backward(self.scaler.scale(self.layer(x).square().mean()))
        if spoilt:
            assert self.layer.bias is not None
            assert self.layer.bias.grad is not None
            self.layer.bias.grad[1:2].fill_(spoilt)
        unscale(self.optimiser, self.scaler, 0.1)
        apply_gradients(self.optimiser, self.scaler, self.config.clip)

    def state(self) -> dict[str, Tensor]:
        memory = memory_of(self.optimiser, self.layer.named_parameters())
        kept = {f"{kind} {name}": value for kind, named in memory.items() for name, value in named.items()}
        return {name: value.detach().clone() for name, value in (self.layer.state_dict() | kept).items()}


def started(settings: dict[str, Any], device: torch.device = CPU, *, fused: bool) -> Training:
    scaler = GradientScaler(device)
    scaler.load_state_dict(EARLY)
    return Training(settings, scaler, device, fused=fused)


def by_torch(settings: dict[str, Any]) -> Training:
    scaler = torch.amp.GradScaler("cpu")
    scaler.load_state_dict(EARLY)
    return Training(settings, scaler, CPU, fused=False)


def batches() -> list[tuple[Tensor, float]]:
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(8, 5, generator=generator), OVERFLOWS.get(step, 0.0)) for step in range(STEPS)]


@pytest.mark.parametrize("settings", OPTIMISERS, ids=str)
def test_it_does_what_torch_does(settings: dict[str, Any]) -> None:
    ours, theirs = started(settings, fused=False), by_torch(settings)
    scales = []
    for batch in batches():
        ours.step(*batch)
        theirs.step(*batch)
        assert ours.scaler.state_dict() == theirs.scaler.state_dict()
        torch.testing.assert_close(ours.state(), theirs.state(), rtol=0, atol=0)
        scales.append(ours.scaler.state_dict()["scale"])
    assert min(scales) < scales[0] < max(scales) or len(set(scales)) > 2, "it falls and rises"


@pytest.mark.parametrize("settings", OPTIMISERS, ids=str)
def test_fused_optimisers_skip_steps_by_themselves(settings: dict[str, Any]) -> None:
    ours, theirs = started(settings, fused=True), by_torch(settings)
    for x, spoilt in batches():
        before = ours.state()
        ours.step(x, spoilt)
        theirs.step(x, spoilt)
        if spoilt:
            after = ours.state()
            started_now = {name: torch.zeros_like(value) for name, value in after.items() if name not in before}
            torch.testing.assert_close(after, before | started_now, rtol=0, atol=0)
        assert ours.scaler.state_dict() == theirs.scaler.state_dict()
        torch.testing.assert_close(ours.layer.state_dict(), theirs.layer.state_dict())
    torch.testing.assert_close(ours.state(), theirs.state())


@pytest.mark.parametrize("settings", OPTIMISERS, ids=str)
def test_no_step_waits(settings: dict[str, Any]) -> None:
    here = started(settings, fused=True)
    seen: list[Any] = []
    with stand_in(has_double=False) as mode:
        there = started(settings, DEVICE, fused=True)
        step = recorded(Training.step, mode, seen)
        for x, spoilt in batches():
            here.step(x, spoilt)
            step(there, x.to(DEVICE), spoilt)
        state = {name: value.cpu() for name, value in there.state().items()}
        assert there.scaler.state_dict() == here.scaler.state_dict()
    assert [fault for one in seen for fault in one.faults] == []
    torch.testing.assert_close(state, here.state(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("settings", OPTIMISERS, ids=str)
def test_it_goes_on_where_it_was(settings: dict[str, Any], fused: bool) -> None:
    """Also if the first part was on a device with another kind of optimizer."""
    whole, first = started(settings, fused=fused), started(settings, fused=not fused)
    for batch in batches()[:6]:
        whole.step(*batch)
        first.step(*batch)
    rest = started(settings, fused=fused)
    rest.layer.load_state_dict(first.layer.state_dict())
    remember(rest.optimiser, rest.layer.named_parameters(), memory_of(first.optimiser, first.layer.named_parameters()))
    rest.scaler.load_state_dict(first.scaler.state_dict())
    for batch in batches()[6:]:
        whole.step(*batch)
        rest.step(*batch)
    torch.testing.assert_close(rest.state(), whole.state())
    assert rest.scaler.state_dict() == whole.scaler.state_dict()


@pytest.mark.parametrize("settings", OPTIMISERS, ids=str)
def test_a_restored_state_has_the_strides_of_its_weight(settings: dict[str, Any]) -> None:
    """Fused kernels take the numbers of a tensor in the order of its memory."""
    x = torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(2))
    ended = []
    for fused in (False, True):
        training = started(settings, fused=fused)
        layer = nn.Conv2d(3, 4, 3)
        use_channels_last(layer)
        layer.load_state_dict(
            {name: torch.linspace(-1, 1, value.numel()).view_as(value) for name, value in layer.state_dict().items()}
        )
        training.layer, training.optimiser = (
            layer,
            new_optimiser(training.config, list(layer.parameters()), fused=fused),
        )
        training.step(x, 0.0)
        memory = memory_of(training.optimiser, layer.named_parameters())
        apart = {kind: {name: value.contiguous() for name, value in named.items()} for kind, named in memory.items()}
        remember(training.optimiser, layer.named_parameters(), apart)
        training.step(x, 0.0)
        ended.append(training.state())
    torch.testing.assert_close(*ended)


def test_states_of_torch_are_understood() -> None:
    theirs, ours = torch.amp.GradScaler("cpu"), GradientScaler("cpu")
    theirs.load_state_dict(EARLY)
    ours.load_state_dict(theirs.state_dict())
    assert ours.state_dict() == theirs.state_dict() == EARLY
    assert GradientScaler("cpu").state_dict() == torch.amp.GradScaler("cpu").state_dict()


@pytest.mark.parametrize(
    "state",
    [
        {},
        EARLY | {"scale": math.nan},
        EARLY | {"scale": 0.0},
        EARLY | {"growth_factor": 0.5},
        EARLY | {"_growth_tracker": -1},
    ],
    ids=str,
)
def test_other_states_are_refused(state: dict[str, float]) -> None:
    ours = GradientScaler("cpu")
    with pytest.raises((LookupError, ValueError)):
        ours.load_state_dict(state)
    assert ours.state_dict() == GradientScaler("cpu").state_dict()


def test_it_does_nothing_in_other_precisions() -> None:
    ours, loss = GradientScaler("cpu", enabled=False), torch.ones(())
    assert ours.scale(loss) is loss
    assert (ours.is_enabled(), ours.state_dict()) == (False, {})
    ours.load_state_dict(EARLY)
    assert ours.state_dict() == {}
    layer = nn.Linear(2, 1)
    optimiser = new_optimiser(config(), list(layer.parameters()))
    layer(torch.ones(3, 2)).sum().backward()
    before = layer.weight.detach().clone()
    unscale(optimiser, ours, 0.1)
    apply_gradients(optimiser, ours, 0.0)
    assert not torch.equal(layer.weight, before)


def test_no_gradient_at_all() -> None:
    """A space of pools has no weights."""
    ours = GradientScaler("cpu")
    optimiser = new_optimiser(config(), [])
    unscale(optimiser, ours, 0.1)
    apply_gradients(optimiser, ours, 1.0)
    assert ours.state_dict()["_growth_tracker"] == 1
