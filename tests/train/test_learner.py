"""Training steps, the running average, and moving weights between programs."""

from __future__ import annotations

from itertools import islice
from math import cos, pi
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.runtime import dropping
from bayesnas_graph.train.learner import TrainLearner, compile_motifs, follow, new_learner
from bayesnas_graph.train.step import train_step
from tests.train.networks import FIXED, device, problem


def learner(text: str = FIXED, **settings: Any) -> TrainLearner:
    given = problem(text, **settings)
    seed_everything(0)
    return new_learner(given, device(given.config))


def batches(one: TrainLearner, count: int) -> list[tuple[Tensor, Tensor]]:
    return list(islice(one.problem.batches(one.device, 0), count))


def like(one: TrainLearner, **settings: Any) -> TrainLearner:
    """Another learner with the weights of one."""
    other = learner(**settings)
    told: Any = one.to_plain()
    other.take(told["weights"], told["mean"], told["memory"], told["scaler"])
    return other


# ------------------------------------------------------------------------------------------- a step


def test_cosine() -> None:
    given = problem(rate=0.025, epochs=6)
    assert given.total_steps == 60
    for step in (0, 1, 17, 30, 59):
        assert given.rate(step) == pytest.approx(0.025 * (1 + cos(pi * step / 60)) / 2)
    one = learner(rate=0.025)
    train_step(one, batches(one, 1)[0], 10, slowdown=0.5)
    assert one.optimiser.param_groups[0]["lr"] == pytest.approx(0.025 * 0.75 / 2)


def test_momentum_decay_and_clipping_are_those_of_the_recipe() -> None:
    """Compared with the same two steps by hand."""
    one = learner(drop_path=0.0, auxiliary=0.0, ema=0.0, label_smoothing=0.1, clip=0.5, fuse=False, weight_decay=0.01)
    mine = build(emit(one.problem.graph))
    mine.load_state_dict(one.module.state_dict())
    buffers = {name: torch.zeros_like(value) for name, value in mine.named_parameters()}
    for step, (x, y) in enumerate(batches(one, 2)):
        told, right = train_step(one, (x, y), step)
        mine.zero_grad()
        outputs = mine(x)
        loss = F.cross_entropy(outputs, y, label_smoothing=0.1)
        torch.autograd.backward(loss)
        assert float(told) == pytest.approx(loss.item(), rel=1e-5)
        assert float(right) == pytest.approx(float((outputs.argmax(1) == y).float().mean()))
        norm = float(torch.stack([p.grad.norm() for p in mine.parameters() if p.grad is not None]).norm())
        assert norm > 0.5, "so that it is clipped"
        with torch.no_grad():
            for name, value in mine.named_parameters():
                assert value.grad is not None
                buffers[name] = 0.9 * buffers[name] + value.grad * 0.5 / norm + 0.01 * value
                value.sub_(one.problem.rate(step) * buffers[name])
    for name, value in one.module.state_dict().items():
        torch.testing.assert_close(value, mine.state_dict()[name], rtol=1e-4, atol=1e-5)


def test_a_batch_in_parts() -> None:
    plain = FIXED.replace(" > bn", "")  # norms see a batch as a whole
    found = []
    for parts in (1, 4):
        one = learner(plain, drop_path=0.0, accumulate=parts)
        for step, batch in enumerate(batches(one, 2)):
            found.append(train_step(one, batch, step)[0])
        found.append(one.module.state_dict()["y_conv.weight"])
    for whole, in_parts in zip(found[:3], found[3:], strict=True):
        torch.testing.assert_close(whole, in_parts, rtol=1e-4, atol=1e-6)


# -------------------------------------------------------------------------------------- running mean


def test_the_running_mean_in_closed_form() -> None:
    decay = 0.8
    states = [torch.randn(3, dtype=torch.float64) for _ in range(7)]
    mean = {"w": torch.full((3,), 1e6, dtype=torch.float64), "count": torch.tensor(0)}
    for steps, state in enumerate(states, 1):
        follow(mean, {"w": state, "count": torch.tensor(steps)}, decay, steps)
        shares = [decay ** (steps - i) for i in range(1, steps + 1)]
        expected = torch.stack([share * past for share, past in zip(shares, states, strict=False)]).sum(0) / sum(shares)
        torch.testing.assert_close(mean["w"], expected)
        assert int(mean["count"]) == steps


def test_the_saved_weights_are_the_running_mean() -> None:
    one = learner(ema=0.5)
    assert one.mean is not None
    plain = emit(one.problem.graph, standalone=True)
    seen = []
    for step, batch in enumerate(batches(one, 2)):
        train_step(one, batch, step)
        seen.append(one.module.get_parameter("linear.weight").detach().clone())
    torch.testing.assert_close(one.weights_for(plain)["linear.weight"], (seen[0] + 2 * seen[1]) / 3)
    without = like(one, ema=0.0)
    assert torch.equal(without.weights_for(plain)["linear.weight"], seen[1])


# ------------------------------------------------------------------------------------------ programs


def test_fused_and_plain_learn_the_same() -> None:
    fused = learner(drop_path=0.0)
    plain = like(fused, drop_path=0.0, fuse=False)
    assert fused.program.text != plain.program.text
    for step, batch in enumerate(batches(fused, 3)):
        losses = [float(train_step(one, batch, step)[0]) for one in (fused, plain)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    program = emit(fused.problem.graph, standalone=True)
    kept = [one.weights_for(program) for one in (fused, plain)]
    for name in kept[0]:
        torch.testing.assert_close(kept[0][name], kept[1][name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_state_round_trip(optimiser: str) -> None:
    """Bitwise: the next step is the same."""
    one = learner(optimiser=optimiser)
    first, second = batches(one, 2)
    train_step(one, first, 0)
    other = like(one, optimiser=optimiser)
    losses = []
    for same in (one, other):
        seed_everything(3)
        losses.append(train_step(same, second, 1)[0])
    assert torch.equal(*losses)
    for name, value in one.module.state_dict().items():
        assert torch.equal(value, other.module.state_dict()[name])
    assert one.mean is not None
    assert other.mean is not None
    assert all(torch.equal(one.mean[name], other.mean[name]) for name in one.mean)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_other_precisions(precision: str) -> None:
    one = learner(precision=precision)
    for step, batch in enumerate(batches(one, 2)):
        loss, _ = train_step(one, batch, step)
        assert loss.dtype == torch.float32
        assert loss.isfinite()
    assert {value.dtype for value in one.module.parameters()} == {torch.float32}


def test_compiled_motifs() -> None:
    """All innermost motifs except those with drop-path; the result is the same."""
    text = FIXED.replace("relu > conv() > bn", "conv_bn")
    text = text.replace("motif residual", "motif conv_bn { in x x -> out : conv() > bn }\n\nmotif residual")
    one = learner(text, auxiliary=0.0, fuse=False)
    plain, compiled = build(one.program), build(one.program)
    compiled.load_state_dict(plain.state_dict())
    compile_motifs(compiled, backend="eager")
    kinds = {type(module).__name__ for module in compiled.modules() if module._compiled_call_impl is not None}
    assert kinds == {"ConvBn"}
    x = torch.rand(4, 1, 8, 8)
    for chance in (0.0, 0.3):
        found = []
        for network in (plain, compiled):
            with torch.no_grad(), dropping(chance, torch.Generator().manual_seed(0)):
                found.append(network(x))
        torch.testing.assert_close(*found)
