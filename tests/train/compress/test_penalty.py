"""The penalty in training: removed groups stay zero, and unused groups shrink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bayesnas_graph.codegen.emit import by_node
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.train.checkpoint import TrainCheckpoints
from bayesnas_graph.train.compress.groups import groups_of
from bayesnas_graph.train.compress.masks import Masks, alive, masks_of
from bayesnas_graph.train.compress.measure import Measured, measured, penalty, pruning_after_loop
from bayesnas_graph.train.compress.penalty import Held, Penalty, tensors_of
from bayesnas_graph.train.compress.selection import Size
from bayesnas_graph.train.learner import TrainLearner
from bayesnas_graph.train.loop import AfterStep, Training
from bayesnas_graph.train.problem import TrainingProblem
from tests.helpers import graph
from tests.search.spaces import tiny_data
from tests.train.compress.small import SMALL, Weights, random_weights
from tests.train.networks import Notes

USUAL = {"conv": "filter,channel", "linear": "row,column"}
NETWORK = graph(SMALL)
GROUPS = groups_of(NETWORK, USUAL)
CONFIG = CompressConfig.model_validate({"batch": 20, "threads": 1})


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def device(config: TrainConfig) -> Device:
    return Device.of(config, torch.device("cpu"), Processes())


def trained(folder: Path, start: Weights, after_step: AfterStep, **settings: Any) -> Weights:
    given = {"batch": 20, "epochs": 1, "rate": 0.05, "fuse": False, "drop_path": 0.0, "weight_decay": 0.0, "cutout": 0}
    config = TrainConfig.model_validate(given | settings)
    problem = TrainingProblem(config, NETWORK, tiny_data())
    saved = TrainCheckpoints(folder, 3)
    outcome = Training(problem, device(config), saved, Notes(), start_weights=start, after_step=after_step).run()
    return {node: dict(named) for node, named in by_node(outcome.weights, outcome.program).items()}


def start(seed: int = 0) -> Weights:
    """Weights of about the magnitude of initial weights."""
    weights = random_weights(NETWORK, seed)
    for node, named in weights.items():
        for name, value in named.items():
            if value.ndim > 1:
                value = (value - value.mean()) / value.std() * value[0].numel() ** -0.5
            weights[node][name] = value.float() if value.is_floating_point() else value
    return weights


def found_in(weights: Weights) -> Measured:
    batches = [(torch.randn(20, 1, 8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(20) % 10)]
    return measured(NETWORK, weights, batches, device(CONFIG.dense))


def test_loops_see_samples_in_orders_of_their_own() -> None:
    """And the orders are reproducible; the penalty replaces weight decay."""
    seeds = [CONFIG.loop(number).seed for number in (1, 2, 3, 1)]
    assert len(set(seeds)) == 3
    assert seeds[0] == seeds[3]
    assert CONFIG.loop(1).weight_decay == 0 < CONFIG.dense.weight_decay


@pytest.mark.parametrize("keeping", [Held, lambda masks: Penalty({}, masks, ())])
def test_what_is_gone_stays_gone(tmp_path: Path, keeping: Callable[[Masks], AfterStep]) -> None:
    weights = start()
    weights["y.conv_2"]["weight"][3] = 0
    weights["y.conv_2"]["weight"][:, 2, 1] = 0
    weights["linear"]["weight"][:, ::2] = 0
    zero = {name: weights[name]["weight"] == 0 for name in ("y.conv_2", "linear")}
    whole = masks_of(GROUPS, weights)
    free = trained(tmp_path / "free", weights, lambda *_: None)
    assert any(bool(free[name]["weight"][where].any()) for name, where in zero.items()), (
        "a training would bring it back"
    )
    seen: list[float] = []

    def held(learner: TrainLearner, rate: float) -> None:
        keeping(whole)(learner, rate)
        seen.extend(float(tensors_of(learner)[name]["weight"][where].abs().sum()) for name, where in zero.items())

    left = trained(tmp_path / "held", weights, held)
    assert len(seen) == 2 * 10
    assert set(seen) == {0.0}
    assert not any(bool(left[name]["weight"][where].any()) for name, where in zero.items())
    assert all(bool((left[name]["weight"][~where] != 0).all()) for name, where in zero.items())


def test_the_step_of_the_penalty_in_a_training(tmp_path: Path) -> None:
    """Groups without a penalty are unchanged; others shrink; a huge penalty leaves only the strongest of each."""
    weights = start()
    masks = masks_of(GROUPS, weights)
    filters = next(some for some in GROUPS if some.name == "y.conv_2/n")

    def under(height: float, folder: str, *needed: str) -> Tensor:
        omegas = {filters: torch.full_like(filters.norms(weights), height)}
        return filters.norms(trained(tmp_path / folder, weights, Penalty(omegas, masks, needed))).flatten()

    none, some = under(0.0, "none"), under(0.01, "some")
    assert bool((some < none).all())
    assert bool((some > 0).all())
    assert not under(1e6, "all").any()
    assert int(under(1e6, "one", "y.conv_2").count_nonzero()) == 1


def test_momentum_counts(tmp_path: Path) -> None:
    """A gradient finally moves a weight by `rate / (1 - momentum)`, so the penalty is scaled the same way."""
    weights = start()
    masks = masks_of(GROUPS, weights)
    filters = next(some for some in GROUPS if some.name == "y.conv_2/n")
    norms: dict[float, Tensor] = {}

    def spied(learner: TrainLearner, rate: float) -> None:
        before = filters.norms(tensors_of(learner))
        omegas = {filters: torch.full_like(before, 0.001)}
        Penalty(omegas, masks, ())(learner, rate)
        norms.setdefault(learner.problem.config.momentum, (before - filters.norms(tensors_of(learner))) / rate)

    for momentum in (0.0, 0.9):
        trained(tmp_path / str(momentum), weights, spied, momentum=momentum)
    torch.testing.assert_close(norms[0.0], torch.full_like(norms[0.0], 0.001), rtol=2e-2, atol=0)
    torch.testing.assert_close(norms[0.9], torch.full_like(norms[0.9], 0.01), rtol=2e-2, atol=0)


def test_the_penalty_that_suits_weights() -> None:
    weights = start()
    weights["linear"]["weight"][:, 7] = 0
    made = penalty(NETWORK, weights, GROUPS, found_in(weights), 1e-3)
    assert list(made.weights) == list(GROUPS)
    assert made.needed == {"y.conv", "y.conv_2", "linear", "linear_2"}, "the block in between may vanish"
    for some, height in made.weights.items():
        assert height.shape == some.norms(weights).shape
        assert bool(height.isfinite().all())
        assert bool((height >= 0).all())
    assert not made.masks["linear"]["weight"][:, 7].any()
    assert float(made.weights[next(some for some in GROUPS if some.name == "linear/c")].flatten()[7]) == 0.0


def test_what_is_measured() -> None:
    """The mean over samples, for any batch size."""
    weights = start()
    generator = torch.Generator().manual_seed(1)
    x, y = torch.randn(12, 1, 8, 8, generator=generator), torch.arange(12) % 10
    whole, parts = (
        measured(NETWORK, weights, batches, device(CONFIG.dense))
        for batches in ([(x, y)], [(x[:8], y[:8]), (x[8:], y[8:])])
    )
    assert whole.loss == pytest.approx(parts.loss)
    for node, named in whole.h.items():
        for name, value in named.items():
            torch.testing.assert_close(value, parts.h[node][name], rtol=1e-4, atol=1e-8)
    assert {name for some in GROUPS for name, _ in some.tensors} <= whole.h.keys()


# --------------------------------------------------------------------------------------------- judging


def verdict(weights: Weights, **settings: Any) -> tuple[int, Size]:
    """The number of remaining groups and their size."""
    config = CompressConfig.model_validate({"batch": 20, **settings})
    found = pruning_after_loop(NETWORK, weights, GROUPS, found_in(weights), config, config.lambda_w or 1e-5)
    return sum(int(alive(some, found.masks).sum()) for some in GROUPS), found.size


def test_more_tolerance_removes_more() -> None:
    weights = start()
    left = [verdict(weights, tolerance=tolerance)[0] for tolerance in (0.0, 0.01, 0.1, 1e9)]
    assert left == sorted(left, reverse=True)
    assert left[0] > left[1] > left[2] > left[3] > 0


def test_only_zeros_go() -> None:
    weights = start()
    count, size = verdict(weights, prune="zero")
    assert size == Size.of(NETWORK)
    weights["linear"]["weight"][2] = 0
    weights["linear"]["bias"][2] = 0
    less, smaller = verdict(weights, prune="zero")
    assert less == count - 1
    assert smaller.parameters == size.parameters - (192 + 1) - 10


def test_those_without_entropy_go() -> None:
    weights = start()
    all_left, few_left = (verdict(weights, prune="entropy", lambda_w=height)[0] for height in (1e-9, 1e3))
    assert all_left > few_left > 0


def test_a_target_ends_removals() -> None:
    weights = start()
    target = Size.of(NETWORK).operations // 2
    _, size = verdict(weights, tolerance=1e9, target_operations=target)
    assert 0.9 * target < size.operations <= target


def test_nothing_gets_through_any_more() -> None:
    weights = start()
    for name in ("y.conv", "y.bn"):
        for value in weights[name].values():
            if value.is_floating_point():
                value.zero_()
    with pytest.raises(NasError) as error:
        verdict(weights)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS621"
    assert diagnostic.message == "the penalty has closed every path through the network"
