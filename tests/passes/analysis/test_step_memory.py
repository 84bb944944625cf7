"""The memory of a training step, compared with what torch saves and allocates."""

from __future__ import annotations

import pytest

from bayesnas_graph import passes
from bayesnas_graph.passes.analysis import step_memory
from benchmarks.memory import Subject, allocated, compiled, saved
from tests.helpers import body, graph

SUBJECTS = [
    Subject("quickstart", "digits", 16),
    Subject("darts", "search", 4, ("width=4", "cells=3")),
    Subject("nasbench201", "search", 4, ("width=4",)),
    Subject("densenet", "search", 4),
    Subject("resnet18_cifar", "resnet18", 4, ("width=16",)),
    Subject("mobilenet_v2", "mobilenet_v2", 2, ("size=64",)),
    Subject("vit", "vit", 16, ("width=48", "depth=2", "heads=3", "size=64")),
    Subject("sequence", "search", 4),
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.space)
def test_estimates(subject: Subject) -> None:
    network = compiled(subject)
    estimate = step_memory(network)
    assert estimate.activations(subject.batch) == pytest.approx(saved(network, subject.batch), rel=0.05)
    assert estimate.training(subject.batch) == pytest.approx(allocated(network, subject.batch), rel=0.2)


RECOMPUTED = [
    Subject("darts", "search", 4, ("width=4", "cells=6")),
    Subject("nasbench201", "search", 4, ("width=4",)),
    Subject("resnet18_cifar", "resnet18", 32, ("width=8",)),
    Subject("densenet", "densenet_bc_100_12", 4),  # all of it is one motif
]


@pytest.mark.parametrize("subject", RECOMPUTED, ids=lambda subject: subject.space)
def test_estimates_with_recomputed_cells(subject: Subject) -> None:
    network = compiled(subject)
    estimate, found = step_memory(network, recompute=True), allocated(network, subject.batch, recompute=True)
    assert estimate.training(subject.batch) == pytest.approx(found, rel=0.2)
    assert found < 0.8 * allocated(network, subject.batch)


def test_recomputed_cells_keep_their_inputs() -> None:
    text = "cell c { in x x -> out : conv(8) > relu > conv(3) } " + body("x -> out : c > c > c > conv(3)")
    image = 4 * 3 * 64
    assert step_memory(graph(text), recompute=True).saved == 5 * image  # the batch, three values, and the loss
    assert step_memory(graph(text)).saved == 5 * image + 3 * 4 * 8 * 64  # and what the second convolutions read


def test_nothing_to_recompute() -> None:
    plain = graph(body("x -> out : conv(8) > relu > conv(3)"))
    assert step_memory(plain, recompute=True) == step_memory(plain)


@pytest.mark.parametrize("subject", SUBJECTS[:3], ids=lambda subject: subject.space)
def test_estimates_without_fusion(subject: Subject) -> None:
    network = subject.graph()
    assert step_memory(network).activations(subject.batch) == pytest.approx(saved(network, subject.batch), rel=0.05)


def test_a_value_counts_once() -> None:
    """Two convolutions and a pool save one value; a part of a value is the whole value."""
    one = graph(body("node y = x : conv(4) y -> out : conv(3)"))
    several = graph(body("node y = x : conv(4) y -> out : conv(3) y -> out : conv(3) y -> out : avg_pool > conv(3)"))
    part = graph(body("node y = x : conv(4) y -> out : slice_channels(0, 2) > conv(3)"))
    image, inner, output = 3 * 64, 4 * 64, 3 * 64
    assert step_memory(one).saved == 4 * (image + inner + output)  # the output is that of the loss
    assert step_memory(several).saved == 4 * (image + inner + inner + output)  # and what the pool returns
    assert step_memory(part).saved == 4 * (image + inner + output)


def test_what_has_no_gradient_is_not_saved() -> None:
    pooled = graph(body("x -> out : max_pool > relu > conv(3)"))
    assert step_memory(pooled).saved == 4 * (3 * 64) * 3  # the batch, what the convolution reads, and the loss


def test_zero_gates_are_part_of_sums() -> None:
    text = body("x -> out : choose { a = conv(3), b = identity }")
    switched = passes.run(graph(text), passes.SWITCHES)
    before = passes.run(graph(text), passes.SWITCHES, passes.Options(zero="before"))
    assert step_memory(switched).saved == 4 * (3 * 64) * 3  # the batch, a candidate, and the loss
    assert step_memory(before).saved == 4 * (3 * 64) * 4  # and the batch times its zero gate


def test_parts_of_a_batch() -> None:
    memory = step_memory(graph(body("x -> out : conv(64) > relu > conv(64) > relu > conv(3)")))
    whole, halves = memory.training(8), memory.training(8, parts=2)
    assert memory.training(4) <= halves < whole
    assert halves == memory.weights * 3 + 4 * memory.moments[0][0]
    assert memory.training(8, state=2) == whole + memory.weights
    assert memory.training(7, parts=2) == memory.training(8, parts=2)


def test_precision() -> None:
    network = graph(body("x -> out : conv(8) > relu > conv(3)"))
    assert step_memory(network, size=2).saved * 2 == step_memory(network).saved
    assert step_memory(network, size=2).weights == step_memory(network).weights
