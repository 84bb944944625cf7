"""A search on a stand-in for a GPU: a training step waits for nothing, and doubles are used only if there are any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from bayesnas_graph.bayes import CrossEntropy, Estimator
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search import loop
from bayesnas_graph.search.checkpoint import SearchCheckpoints
from bayesnas_graph.search.learner import new_learner
from bayesnas_graph.search.loop import Search, SearchOutcome
from bayesnas_graph.search.measure import GateMeasurements, measure
from bayesnas_graph.search.prior import Prior
from bayesnas_graph.search.relaxation import Relaxation
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategies.bayes import Bayes
from bayesnas_graph.search.strategy import Draw, Rates
from tests.search.spaces import TINY, Notes, problem
from tests.search.stand_in import DEVICE, Held, Seen, recorded, stand_in
from tests.search.stand_in_autocast import autocasting
from tests.search.test_variants import MIXED, RULED

FEW: dict[str, Any] = {"iterations": 2, "steps": 4, "warmup": 2, "finish": 2, "samples": 2}
DRAWING = [name for name, info in STRATEGIES.items() if info.draws]
DETERMINED = ["bayes", "bayesnas", "darts", "dso", "magnitude"]  # strategies that draw nothing
OTHER_SETTINGS: dict[str, Any] = {
    "gates_on": "held_out",
    "optimiser": "adamw",
    "accumulate": 2,
    "drop_path": 0.2,
    "label_smoothing": 0.1,
    "crop": 1,
    "flip": True,
    "cutout": 2,
    "resized_crop": 0.3,
    "jitter": 0.4,
    "rand_augment": 2,
    "mixup": 0.3,
    "cutmix": 1.0,
    "fuse": False,
}


class _Nowhere(SearchCheckpoints):
    """Saves nothing: tensors of the stand-in cannot be saved."""

    def save(self, *_: object) -> Any:
        """Do nothing."""

    def last(self, *_: object) -> None:
        """Find nothing."""


@dataclass(frozen=True)
class Watched:
    """A search on the stand-in."""

    outcome: SearchOutcome
    steps: list[Seen]  # training steps
    fetched: list[Seen]  # everything around a step, such as fetching a batch
    rest: Seen


def watched_search(text: str = TINY, *, has_double: bool = False, **settings: Any) -> Watched:
    given = problem(text, **FEW | settings)
    steps: list[Seen] = []
    fetched: list[Seen] = []
    with stand_in(has_double=has_double) as mode:
        device = Device.of(given.config, DEVICE, Processes())
        with (
            patch.object(loop, "train_step", recorded(train_step, mode, steps)),
            patch.object(Search, "take_step", recorded(Search.take_step, mode, fetched)),
            autocasting(),
            mode.watched() as rest,
        ):
            outcome = Search(given, device, _Nowhere(Path()), Notes()).run()
    return Watched(outcome, steps, fetched, rest)


@cache
def short_search(name: str, *, has_double: bool) -> Watched:
    return watched_search(strategy=name, has_double=has_double)


def kinds(found: Watched) -> list[list[str]]:
    """The faults of every step."""
    return [[fault.kind for fault in seen.faults] for seen in found.steps]


def assert_no_waiting(found: Watched) -> None:
    assert len(found.steps) > 2
    assert [fault for seen in found.steps for fault in seen.faults] == []
    assert all(seen.forward > 20 and seen.backward > 10 for seen in found.steps)
    assert_usual_around_steps(found)


def assert_usual_around_steps(found: Watched) -> None:
    # Data are on the device. What chooses and changes batches is copied at the start of an epoch.
    copied = [{fault.kind for fault in seen.faults} for seen in found.fetched if seen.faults]
    assert copied
    assert all(kinds == {"copied"} for kinds in copied)
    assert len(copied) < len(found.fetched) / 2
    assert {fault.kind for fault in found.rest.faults} == {"read", "copied"}  # between steps, but never `double`


# ------------------------------------------------------------------------------------- a search


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name not in DRAWING])
def test_a_step_waits_for_nothing(name: str) -> None:
    found = short_search(name, has_double=False)
    assert_no_waiting(found)
    moving = found.steps[FEW["warmup"]]
    print(f"{name}: {moving.forward} launches forwards and in updates, {moving.backward} backwards")


@pytest.mark.parametrize(
    ("name", "precision"), [*((name, "fp16") for name in STRATEGIES if name not in DRAWING), ("bayes", "bf16")]
)
def test_a_step_in_half_precision_waits_for_nothing(name: str, precision: str) -> None:
    assert_no_waiting(watched_search(strategy=name, precision=precision))


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_a_step_that_draws_reads_slopes_and_nothing_else_in_half_precision(precision: str) -> None:
    assert_reads_slopes(watched_search(strategy="gdas", precision=precision))


@pytest.mark.parametrize("name", ["bayesnas", "snas"])
def test_other_settings_wait_for_nothing(name: str) -> None:
    assert_no_waiting(watched_search(MIXED, strategy=name, **OTHER_SETTINGS))


def test_choices_of_several_wait_for_nothing() -> None:
    assert_no_waiting(watched_search(RULED, strategy="snas"))


COPIED = ["copied"]  # the gates that are drawn
# The gates of a step of the weights; those of a step of the logits, and where their slopes are; the slopes.
LEARNT = ["copied", "copied", "copied", "read"]


@pytest.mark.parametrize("name", ["gdas", "proxyless"])
@pytest.mark.parametrize(("text", "settings"), [(TINY, {}), (MIXED, OTHER_SETTINGS), (RULED, {})])
def test_a_step_that_draws_by_logits_reads_slopes_and_nothing_else(
    name: str, text: str, settings: dict[str, Any]
) -> None:
    """What to compute must be known before it is computed, and depends on the slopes of the step before."""
    assert_reads_slopes(watched_search(text, strategy=name, **settings))


def assert_reads_slopes(found: Watched) -> None:
    assert kinds(found)[: FEW["warmup"]] == [COPIED] * FEW["warmup"]
    assert kinds(found)[-FEW["finish"] :] == [[]] * FEW["finish"]
    learning = kinds(found)[FEW["warmup"] : -FEW["finish"]]
    assert LEARNT in learning
    assert all(step in (LEARNT, LEARNT[1:]) for step in learning)  # there are no slopes if no candidate is drawn
    assert_usual_around_steps(found)


def test_gates_that_learn_from_the_same_samples_are_drawn_once() -> None:
    found = watched_search(strategy="gdas", gates_on="train")
    learning = kinds(found)[FEW["warmup"] : -FEW["finish"]]
    assert LEARNT[1:] in learning
    assert all(step in (LEARNT[1:], LEARNT[2:]) for step in learning)


@pytest.mark.parametrize("text", [TINY, RULED])
def test_a_step_that_draws_at_random_reads_nothing(text: str) -> None:
    found = watched_search(text, strategy="random")
    drawing = FEW["warmup"] + FEW["iterations"] * FEW["steps"]
    assert kinds(found) == [COPIED] * drawing + [[]] * FEW["finish"]


@pytest.mark.parametrize("name", ["gdas", "proxyless"])
def test_draws_are_those_of_the_cpu(name: str) -> None:
    """And so are the slopes that are learnt from, up to rounding."""
    given = problem(strategy=name, **FEW)
    strategy = strategy_of(given.config)
    drawn: list[list[float]] = []
    slopes: list[Tensor] = []

    def move(_strategy: Relaxation, _learner: object, found: Tensor, draw: Draw, _rates: Rates) -> None:
        drawn.append(draw.gates.tolist())
        slopes.append(found.to("cpu"))

    with stand_in(has_double=False), patch.object(Relaxation, "move", move):
        for place in (DEVICE, torch.device("cpu")):
            torch.manual_seed(0)
            device = Device.of(given.config, place, Processes())
            learner = new_learner(given.graph, given.config, device)
            learner = strategy.start(learner, next(given.batches(device, 0)))
            batches, held_out = given.batches(device, 0), given.held_out_batches(device, 0)
            for step in range(5):
                train_step(learner, next(batches), Rates(0.1, 0.1, (0.0, 0.0), step=step), next(held_out))
    assert drawn[:5] == drawn[5:]
    torch.testing.assert_close(slopes[:5], slopes[5:], rtol=1e-3, atol=1e-5)
    assert any(found.abs().max() > 0.001 for found in slopes)


@pytest.mark.parametrize("name", DETERMINED)
def test_decisions_are_the_same_without_doubles(name: str) -> None:
    single, double = (short_search(name, has_double=has_double).outcome for has_double in (False, True))
    assert single.decision.off == double.decision.off
    pairs = zip(single.decision.verdicts, double.decision.verdicts, strict=True)
    assert all(one.gamma == pytest.approx(other.gamma, rel=0.01, abs=1e-6) for one, other in pairs)


# ------------------------------------------------------------------------------------- measurements


def measured(estimator: Estimator, *, has_double: bool) -> tuple[GateMeasurements, Seen]:
    given = problem(strategy="bayesnas", curvature=estimator, ranking="removal")
    with stand_in(has_double=has_double) as mode, mode.watched() as seen:
        torch.manual_seed(0)
        device = Device.of(given.config, DEVICE, Processes())
        learner = new_learner(given.graph, given.config, device)
        return measure(learner, given.measured_batches(device, 1), 1), seen


@pytest.mark.parametrize("estimator", get_args(Estimator))
def test_curvatures_without_doubles(estimator: Estimator) -> None:
    single, seen = measured(estimator, has_double=False)
    double, _ = measured(estimator, has_double=True)
    assert not [fault for fault in seen.faults if fault.kind == "double"]
    assert single.slopes is not None
    assert double.slopes is not None
    for one, other in ((single.h, double.h), (single.units, double.units), (single.slopes, double.slopes)):
        assert (one.dtype, other.dtype) == (torch.float32, torch.float64)
        torch.testing.assert_close(values(one).double(), values(other), rtol=1e-3, atol=1e-6)


def test_a_custom_loop_without_doubles() -> None:
    given = problem()
    with stand_in(has_double=False) as mode, mode.watched() as seen:
        device = Device.of(given.config, DEVICE, Processes())
        net = new_learner(given.graph, given.config, device).supernet
        prior, (x, y) = Prior(net), next(given.batches(device, 0))
        torch.nn.functional.cross_entropy(net.module(x), y).backward()  # type: ignore[no-untyped-call]
        with mode.watched() as step:
            prior.step(net)
        decision = prior.update(net, [(x, y)], CrossEntropy())
    assert len(decision.verdicts) == len(prior.switches.groups)
    assert step.faults == []
    assert not [fault for fault in seen.faults if fault.kind == "double"]


def values(tensor: Tensor) -> Tensor:
    assert isinstance(tensor, Held)
    return tensor.on_cpu


# ------------------------------------------------------------------------------------- the stand-in itself

READS: list[Callable[[Tensor], object]] = [
    lambda x: x.sum().item(),
    lambda x: float(x[0]),
    lambda x: bool((x > 0).any()),
    lambda x: x.tolist(),
    lambda x: x.cpu(),
    lambda x: torch.zeros(3).copy_(x),
    lambda x: x.nonzero(),
    lambda x: x[x > 0],
    lambda x: x.masked_select(x > 0),
    lambda x: x.index_put_((x > 0,), torch.ones(2, device=DEVICE)),
    lambda x: torch.bincount(x.long().abs()),
    lambda x: torch.equal(x, x),
]
COPIES: list[Callable[[Tensor], object]] = [
    lambda _: torch.tensor([1.0], device=DEVICE),
    lambda _: torch.tensor(1.0, device=DEVICE),
    lambda x: x.new_tensor([1.0]),
    lambda _: torch.ones(2).to(DEVICE),
    lambda x: x.copy_(torch.ones(3)),
    lambda x: x[torch.tensor([0])],
    lambda x: x[[0, 2]],
]
DOUBLES: list[Callable[[Tensor], object]] = [
    lambda x: x.double(),
    lambda _: torch.zeros(1, dtype=torch.float64, device=DEVICE),
    lambda x: x.sum(dtype=torch.float64),
    lambda x: torch.zeros_like(x, dtype=torch.float64),
]
HARMLESS: list[Callable[[Tensor], object]] = [
    lambda x: x[x.argsort()],
    lambda x: torch.where(x > 0, x, 0).masked_fill(x > 1, 2),
    lambda x: x.to(DEVICE),
    lambda x: x * torch.tensor(2.0),  # an argument of the kernel
    lambda x: torch.zeros(2, device=DEVICE).add_(x[:2]),
    lambda _: torch.ones(3, dtype=torch.float64)[torch.tensor([0])].tolist(),  # on the CPU
]


@pytest.mark.parametrize(
    ("kind", "act"),
    [
        *(("read", act) for act in READS),
        *(("copied", act) for act in COPIES),
        *(("double", act) for act in DOUBLES),
        *((None, act) for act in HARMLESS),
    ],
)
def test_every_fault_is_seen(kind: str | None, act: Callable[[Tensor], object]) -> None:
    with stand_in(has_double=False) as mode:
        x = torch.tensor([1.0, 2.0, -1.0], device=DEVICE)
        with mode.watched() as seen:
            act(x)
    assert {fault.kind for fault in seen.faults} == ({kind} if kind else set())
    assert all("test_stand_in_device.py" in fault.line for fault in seen.faults)


def test_faults_in_a_step_are_seen() -> None:
    """As many as there are: one for each step after the warm-up."""

    def worse(self: Bayes, learner: Any, slopes: Tensor, *rest: Any) -> None:
        move(self, learner, slopes * slopes.new_tensor(1.0), *rest)
        assert float(slopes.double().sum()) < 1e9

    move = Bayes.move
    with patch.object(Bayes, "move", worse):
        found = watched_search(strategy="bayes")
    moving = found.steps[FEW["warmup"] : -FEW["finish"]]
    assert [[fault.kind for fault in seen.faults] for seen in moving] == [["copied", "double", "double", "read"]] * 8


def test_doubles_are_fine_where_there_are_some() -> None:
    with stand_in(has_double=True) as mode, mode.watched() as seen:
        torch.ones(3, device=DEVICE).double()
    assert seen.faults == []


def test_tensors_on_two_devices_cannot_be_combined() -> None:
    with stand_in(), pytest.raises(RuntimeError, match="on the stand-in and on the CPU"):
        torch.ones(3, device=DEVICE) + torch.ones(3)


def test_values_are_those_of_the_cpu() -> None:
    with stand_in():
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=DEVICE).requires_grad_()
        y = x.square().sum()
        y.backward()  # type: ignore[no-untyped-call]
        part = x.detach()[1]
        part.add_(1)
        assert (float(y.detach()), x.tolist(), part.device) == (30, [[1, 2], [4, 5]], DEVICE)
        assert x.grad is not None
        assert x.grad.tolist() == [[2, 4], [6, 8]]


def test_other_data() -> None:
    with stand_in():
        weight = torch.nn.Parameter(torch.ones(2, 3, 2, 2, device=DEVICE))
        weight.data = (weight.detach() * 2).to(memory_format=torch.channels_last)
        assert weight.stride() == values(weight).stride() == (12, 1, 6, 3)
        assert (float(weight.detach().sum()), weight.requires_grad) == (48, True)


def test_launches_are_counted() -> None:
    with stand_in() as mode:
        x = torch.ones(2, 3, device=DEVICE, requires_grad=True)
        with mode.watched() as seen:
            y = x.exp().sum()
            forward = seen.forward
            y.backward()  # type: ignore[no-untyped-call]
        with mode.watched() as views:
            x.t()[1:].detach()
    assert (forward, seen.backward > 0) == (2, True)
    assert (views.forward, views.backward) == (0, 0)
