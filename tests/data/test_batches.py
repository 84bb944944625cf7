"""Batches do not depend on the order of requests or the number of processes."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.data import (
    Augmentation,
    Examples,
    InMemory,
    Loading,
    Statistics,
    evaluation,
    shuffled,
    statistics,
    steps_per_epoch,
    training,
)
from bayesnas_graph.data.resident import resident
from bayesnas_graph.data.workers import keep_workers
from bayesnas_graph.diagnostics import Diagnostic, NasError
from tests.data.files import problem
from tests.search.stand_in import DEVICE, stand_in

COUNT = 53
IMAGES = torch.randint(0, 256, (COUNT, 3, 8, 8), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
MEMORY = InMemory(IMAGES, torch.arange(COUNT))  # the label of an image is its number
LOADING = Loading(
    batch=10,
    seed=3,
    augmentation=Augmentation(crop=2, flip=True, cutout=3),
    statistics=Statistics((0.5, 0.4, 0.3), (0.2, 0.3, 0.4)),
    device=torch.device("cpu"),
)
PLAIN = replace(LOADING, augmentation=Augmentation())

# Older and newer ways of starting processes have something to say that is not about us.
with_workers = pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning", "ignore:This DataLoader:UserWarning"
)


@dataclass(frozen=True)
class Elsewhere:
    """The same examples, but not stored in memory."""

    broken: int | None = None
    ends: bool = False
    interrupted: bool = False

    def __len__(self) -> int:
        return COUNT

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        if self.interrupted:
            os.kill(os.getpid(), signal.SIGINT)
        if self.broken in indices.tolist():
            if self.ends:
                os._exit(1)
            raise NasError([Diagnostic("NAS503", "`x.png` cannot be read", help="remove it")])
        return MEMORY.take(indices)


def same(one: Iterable[tuple[Tensor, Tensor]], other: Iterable[tuple[Tensor, Tensor]]) -> None:
    for (x, y), (other_x, other_y) in zip(one, other, strict=True):
        assert torch.equal(x, other_x)
        assert torch.equal(y, other_y)


def test_an_epoch() -> None:
    indices = torch.arange(0, 45)
    batches = list(training(MEMORY, indices, PLAIN, epoch=1))
    assert len(batches) == steps_per_epoch(45, 10) == 4
    labels = torch.cat([labels for _, labels in batches])
    assert torch.equal(labels, shuffled(indices, 3, 1)[:40])
    for images, numbers in batches:
        assert images.dtype == torch.float32
        mean, deviation = (torch.tensor(v).view(3, 1, 1) for v in (PLAIN.statistics.mean, PLAIN.statistics.deviation))
        torch.testing.assert_close(images, (IMAGES[numbers] / 255 - mean) / deviation)


def test_epochs_and_batches_are_augmented_differently() -> None:
    one = InMemory(IMAGES[:1].expand(40, -1, -1, -1), torch.zeros(40, dtype=torch.long))
    seen = [images for epoch in (0, 1) for images, _ in training(one, torch.arange(40), LOADING, epoch)]
    assert len({tuple(images.flatten().tolist()) for images in seen}) == 8


def test_black_comes_in_from_outside_and_the_mean_covers() -> None:
    white = InMemory(torch.full((200, 3, 8, 8), 255, dtype=torch.uint8), torch.zeros(200, dtype=torch.long))
    ((images, _),) = training(white, torch.arange(200), replace(LOADING, batch=200), epoch=0)
    red = {round(value, 4) for value in images[:, 0].flatten().tolist()}
    assert red == {-2.5, 0.0, 2.5}


@settings(max_examples=40)
@given(start=st.integers(0, 6), world=st.integers(1, 4), batch=st.integers(1, 20), epoch=st.integers(0, 3))
def test_any_start_and_any_number_of_processes(start: int, world: int, batch: int, epoch: int) -> None:
    loading = replace(LOADING, batch=batch)
    indices = torch.arange(5, COUNT)
    whole = list(training(MEMORY, indices, loading, epoch))[start:]
    parts = [
        list(training(MEMORY, indices, replace(loading, rank=rank, world=world), epoch, start)) for rank in range(world)
    ]
    for rank, part in enumerate(parts):
        same(part, [(images[rank::world], labels[rank::world]) for images, labels in whole])


@pytest.mark.parametrize("channels_last", [False, True])
def test_vectors_are_the_same_images_channel_by_channel(channels_last: bool) -> None:
    """Cropped, mirrored and cut out as images."""
    flat, indices = replace(LOADING, flat=1, channels_last=channels_last), torch.arange(COUNT)
    for vectors, images in (
        (training(MEMORY, indices, flat, 2), training(MEMORY, indices, LOADING, 2)),
        (evaluation(MEMORY, indices, flat), evaluation(MEMORY, indices, LOADING)),
    ):
        same(vectors, [(x.reshape(len(x), 3 * 8 * 8), y) for x, y in images])


@settings(max_examples=40)
@given(world=st.integers(1, 5), batch=st.integers(1, 60))
def test_evaluation(world: int, batch: int) -> None:
    indices = torch.arange(COUNT - 1, 2, -1)
    loading = replace(LOADING, batch=batch)
    alone = list(evaluation(MEMORY, indices, loading))
    assert torch.equal(torch.cat([labels for _, labels in alone]), indices)
    assert len(alone) == -(-len(indices) // batch)
    shared = [
        labels
        for rank in range(world)
        for _, labels in evaluation(MEMORY, indices, replace(loading, rank=rank, world=world))
    ]
    assert all(len(labels) for labels in shared)
    assert sorted(torch.cat(shared).tolist()) == sorted(indices.tolist())


def test_layout() -> None:
    loading = replace(LOADING, channels_last=True)
    for (last, _), (first, _) in zip(
        training(MEMORY, torch.arange(COUNT), loading, 0),
        training(MEMORY, torch.arange(COUNT), LOADING, 0),
        strict=True,
    ):
        assert last.is_contiguous(memory_format=torch.channels_last)
        assert first.is_contiguous()
        assert torch.equal(last, first)


def test_nothing_depends_on_other_random_numbers() -> None:
    indices = torch.arange(COUNT)
    torch.manual_seed(1)
    before = list(training(Elsewhere(), indices, LOADING, 0))
    state = torch.get_rng_state()
    torch.manual_seed(2)
    same(before, training(Elsewhere(), indices, LOADING, 0))
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state)


@with_workers
def test_workers_change_nothing() -> None:
    indices = torch.arange(COUNT)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    for workers in (1, 2):
        loading = replace(LOADING, workers=workers)
        same(training(Elsewhere(), indices, loading, 2, start=1), training(MEMORY, indices, LOADING, 2, start=1))
    same(evaluation(Elsewhere(), indices, replace(LOADING, workers=2)), evaluation(MEMORY, indices, LOADING))
    assert torch.equal(torch.get_rng_state(), state)
    assert list(training(Elsewhere(), indices[:3], replace(LOADING, workers=2), 0)) == []


@with_workers
@pytest.mark.parametrize("workers", [0, 1])
def test_errors_in_examples_are_reported(workers: int) -> None:
    loading = replace(PLAIN, workers=workers)
    batches = evaluation(Elsewhere(broken=15), torch.arange(COUNT), loading)
    assert len(next(batches)[1]) == 10
    with pytest.raises(NasError) as error:
        next(batches)
    assert problem(error) == Diagnostic("NAS503", "`x.png` cannot be read", help="remove it")


@with_workers
def test_a_dead_worker_is_reported() -> None:
    with pytest.raises(NasError) as error:
        list(evaluation(Elsewhere(broken=15, ends=True), torch.arange(COUNT), replace(PLAIN, workers=1)))
    assert problem(error).code == "NAS505"
    assert "worker process died" in problem(error).message


@with_workers
def test_an_interrupt_does_not_end_workers() -> None:
    """An interrupted search finishes its step and may need another batch for it."""
    found = evaluation(Elsewhere(interrupted=True), torch.arange(COUNT), replace(PLAIN, workers=1))
    same(found, evaluation(MEMORY, torch.arange(COUNT), PLAIN))


@dataclass(frozen=True)
class Drawn:
    """Examples of random numbers, and the process that drew them."""

    def __len__(self) -> int:
        return COUNT

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        drawn = torch.rand(len(indices), 3, 8, 8) + random.random() + float(np.random.rand())
        return drawn, torch.full((len(indices),), os.getpid())


@with_workers
def test_workers_are_kept() -> None:
    """The same processes serve all epochs, another one what runs at the same time, and none is left at the end."""
    examples, loading, indices = Drawn(), replace(PLAIN, workers=1), torch.arange(COUNT)
    with keep_workers():
        epochs = [{int(y[0]) for _, y in training(examples, indices, loading, epoch)} for epoch in range(3)]
        begun = training(examples, indices, loading, 3)
        next(begun)
        others = {int(y[0]) for _, y in evaluation(examples, indices, loading)}
        assert next(iter(others)) in {int(y[0]) for _, y in evaluation(examples, indices, loading)}
    assert epochs[0] == epochs[1] == epochs[2]
    assert len(epochs[0] | others) == 2
    assert not any(_is_alive(process) for process in epochs[0] | others)
    one, two = ({int(y[0]) for _, y in training(examples, indices, loading, epoch)} for epoch in (0, 1))
    assert not one & two


@with_workers
def test_what_workers_draw_depends_on_the_batch_alone() -> None:
    examples, indices = Drawn(), torch.arange(COUNT)
    alone = [x for x, _ in training(examples, indices, replace(PLAIN, workers=1), 2)]
    assert not torch.equal(alone[0], alone[1])
    with keep_workers():
        for epoch in (0, 1):
            next(training(examples, indices, replace(PLAIN, workers=2), epoch))  # left in the middle
        found = [x for x, _ in training(examples, indices, replace(PLAIN, workers=2), 2, start=1)]
    assert len(found) == len(alone) - 1
    assert all(map(torch.equal, found, alone[1:]))


@with_workers
def test_workers_end_with_an_error() -> None:
    found: list[int] = []

    def interrupted() -> None:
        with keep_workers():
            ((_, y), *_) = evaluation(Drawn(), torch.arange(COUNT), replace(PLAIN, workers=1))
            found.append(int(y[0]))
            assert _is_alive(found[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not _is_alive(found[0])


def _is_alive(process: int) -> bool:
    return any(child.pid == process for child in multiprocessing.active_children())


@pytest.mark.parametrize("augmentation", [LOADING.augmentation, Augmentation()])
@pytest.mark.parametrize(("rank", "world"), [(0, 1), (1, 2)])
def test_examples_on_a_device(augmentation: Augmentation, rank: int, world: int) -> None:
    """Batches that are gathered on a device are those of the CPU, and nothing is copied but once per epoch."""
    here = replace(LOADING, augmentation=augmentation, rank=rank, world=world)
    indices = torch.arange(COUNT)
    with stand_in() as mode:
        there = replace(here, device=DEVICE)
        for epoch, start in ((0, 0), (1, 2)):
            found = training(MEMORY, indices, there, epoch, start)
            same(((x.cpu(), y.cpu()) for x, y in found), training(MEMORY, indices, here, epoch, start))
        same(((x.cpu(), y.cpu()) for x, y in evaluation(MEMORY, indices, there)), evaluation(MEMORY, indices, here))
        with mode.watched() as seen:
            list(training(MEMORY, indices, there, 2))
            list(evaluation(MEMORY, indices, there))
        assert [fault.kind for fault in seen.faults] == ["copied"] * 3  # indices and random numbers; indices
        with mode.watched() as seen:
            next(training(MEMORY, indices, replace(there, on_device=0.0), 2))
        assert len(seen.faults) == 3  # images, labels and random numbers


def test_examples_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    there = torch.device("meta")
    examples = InMemory(IMAGES, MEMORY.labels)
    need = IMAGES.nbytes + MEMORY.labels.nbytes
    monkeypatch.setattr("bayesnas_graph.data.resident.free_memory", lambda _: 4 * need - 1)
    assert resident(examples, there, 0.25) is None
    assert resident(examples, torch.device("cpu"), 1.0) is None
    assert resident(Elsewhere(), there, 1.0) is None
    assert resident(examples, there, 0.0) is None
    monkeypatch.setattr("bayesnas_graph.data.resident.free_memory", lambda _: 4 * need)
    found = resident(examples, there, 0.25)
    assert found is not None
    assert found.images.dtype == torch.uint8
    assert resident(examples, there, 0.25) is found


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_batches_on_a_gpu_are_the_same() -> None:
    loading = replace(LOADING, device=torch.device("cuda"))
    indices = torch.arange(COUNT)
    for (there, labels), (here, other_labels) in zip(
        training(MEMORY, indices, loading, 0), training(MEMORY, indices, LOADING, 0), strict=True
    ):
        torch.testing.assert_close(there.cpu(), here)
        assert torch.equal(labels.cpu(), other_labels)


def test_impossible_loading() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        replace(LOADING, batch=0)
    with pytest.raises(ValueError, match="rank 2 is outside 0 to 1"):
        replace(LOADING, rank=2, world=2)
    with pytest.raises(ValueError, match="53 images but 3 labels"):
        InMemory(IMAGES, torch.arange(3))


@pytest.mark.parametrize("examples", [MEMORY, Elsewhere(), InMemory(IMAGES.float() / 255, MEMORY.labels)])
def test_statistics(examples: Examples) -> None:
    found = statistics(examples, piece=10)
    values = IMAGES.double() / 255
    assert found.mean == pytest.approx(values.mean((0, 2, 3)).tolist())
    assert found.deviation == pytest.approx(values.std((0, 2, 3), correction=0).tolist())


def test_statistics_of_some() -> None:
    """Examples are sampled: every other one here is black."""
    turns = InMemory((torch.arange(2000) % 2 * 255).to(torch.uint8).reshape(-1, 1, 1, 1), torch.zeros(2000))
    found = statistics(turns, most=1000)
    assert found.mean[0] == pytest.approx(0.5, abs=0.05)
    assert found == statistics(turns, most=1000)
    constant = InMemory(torch.zeros(3, 2, 4, 4), torch.zeros(3))
    assert statistics(constant) == Statistics((0.0, 0.0), (1.0, 1.0))
