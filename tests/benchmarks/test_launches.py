"""A step of a search on a GPU starts no more kernels than its budget."""

from __future__ import annotations

from functools import cache

import torch

from benchmarks.launches import BEFORE, META, Step, compiled, counting, graph_of, row, table
from benchmarks.record import Record


@cache
def darts() -> Step:
    """The whole search network of DARTS, at batch 64."""
    return compiled(graph_of("darts"), 64)


def test_a_third_of_the_launches() -> None:
    """Copies inside convolutions were not counted then, and are now."""
    assert darts().total("forward") <= BEFORE["forward"] // 3
    assert darts().total("backward") <= BEFORE["backward"] // 3
    assert darts().total("update") <= 40, "all weights at once"


def test_nothing_is_filled_with_constants_in_a_backward_pass() -> None:
    assert not darts().launches["backward"].keys() & {"zeros_like", "ones_like", "zeros", "ones", "full", "fill_"}


def test_one_gated_sum_for_each_node() -> None:
    """Eight cells of four nodes: weights, stacked values and a product for each."""
    forward = darts().launches["forward"]
    assert (forward["stack"], forward["mv"], forward["mul"]) == (32, 32, 32)


def test_what_counts() -> None:
    with counting() as mode, mode.watched() as found:
        x = torch.empty(2, 4, 8, 8, device=META, requires_grad=True)
        y = x.detach()[:, :2].view(2, 2, 64)
        conv = torch.nn.functional.conv2d(x[:, :2], torch.empty(2, 2, 1, 1, device=META))
        conv.exp().sum().backward()  # type: ignore[no-untyped-call]
        torch.empty_like(y).add_(1)
    forward, backward, update = (found.launches[phase] for phase in ("forward", "backward", "update"))
    assert forward == {"convolution": 1, "copy of an input": 1, "exp": 1, "sum": 1, "ones_like": 1}
    assert backward["convolution_backward"] == backward["mul"] == 1
    assert update == {"add_": 1}


def test_memory_is_that_of_living_tensors() -> None:
    with counting() as mode, mode.watched() as found:
        x = torch.empty(2**18, device=META)  # a MiB
        for _ in range(3):
            x = x + 1  # two at a time
        x.view(2, -1)
    assert found.peak == 2 * 2**20


def test_the_table() -> None:
    step = Step(peak=2**20)
    step.launches["forward"].update(mul=3)
    record = Record.begin("launches", "", ["space", "form"]).with_rows([row("darts", "compiled for a GPU", 64, step)])
    assert "| darts | compiled for a GPU | 3 | 0 | 0 | 3 | 1 |" in table(record)
    assert "| forward: mul | 3 |" in table(record)
