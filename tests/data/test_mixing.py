"""Mixup and cutmix: labels follow the images."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.data import Augmentation, InMemory, Loading, Mixing, Statistics, training
from bayesnas_graph.data.mixing import Mix, draw_mix, mixed_images, probabilities
from bayesnas_graph.runs.objectives.classification import Classification
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runs.step import backward
from tests.data.test_batches import Elsewhere, same
from tests.search.stand_in import DEVICE, stand_in
from tests.train.networks import config, device

# The colour of an image says its class: image i is all i / 10.
COUNT, CLASSES = 43, 10
LABELS = torch.arange(COUNT) % CLASSES
IMAGES = (LABELS / 10).view(-1, 1, 1, 1).expand(COUNT, 2, 6, 7).contiguous()
EXAMPLES = InMemory(IMAGES, LABELS)
LOADING = Loading(
    batch=12,
    seed=5,
    augmentation=Augmentation(),
    statistics=Statistics((0.0, 0.0), (1.0, 1.0)),
    device=torch.device("cpu"),
    mixing=Mixing(0.4, 0.0, CLASSES),
)
KINDS = [Mixing(0.4, 0.0, CLASSES), Mixing(0.0, 1.0, CLASSES), Mixing(1.0, 0.3, CLASSES)]

mixings = st.builds(Mixing, st.sampled_from([0.2, 1.0, 8.0]), st.sampled_from([0.0, 0.2, 1.0, 8.0]), st.just(CLASSES))


@settings(max_examples=30)
@given(mixing=mixings, epoch=st.integers(0, 5), seed=st.integers(0, 5))
def test_labels_are_the_content_of_the_images(mixing: Mixing, epoch: int, seed: int) -> None:
    """Probabilities add up to 1, and the mean colour is that of the classes with their probabilities."""
    for images, targets in training(EXAMPLES, torch.arange(COUNT), replace(LOADING, mixing=mixing, seed=seed), epoch):
        assert targets.shape == (12, CLASSES)
        torch.testing.assert_close(targets.sum(1), torch.ones(12))
        assert (targets >= 0).all()
        assert ((targets > 0).sum(1) <= 2).all()
        torch.testing.assert_close(images.mean((1, 2, 3)), targets @ (torch.arange(CLASSES) / 10))


def test_one_share_for_a_whole_batch() -> None:
    """The first label is that of the batch without mixing. Rows whose partner is of the same class have share 1."""
    indices, loading = torch.arange(COUNT), replace(LOADING, mixing=Mixing(0.4, 0.0, CLASSES))
    for (_, targets), (_, labels) in zip(
        training(EXAMPLES, indices, loading, 1),
        training(EXAMPLES, indices, replace(loading, mixing=None), 1),
        strict=True,
    ):
        shares = {round(share, 5) for share in targets.gather(1, labels.unsqueeze(1)).flatten().tolist()}
        assert len(shares - {1.0}) == 1


@settings(max_examples=40)
@given(
    mixing=st.sampled_from(KINDS),
    start=st.integers(0, 4),
    world=st.integers(1, 4),
    batch=st.integers(4, 20),
    crop=st.integers(0, 2),
)
def test_any_start_and_any_number_of_processes(mixing: Mixing, start: int, world: int, batch: int, crop: int) -> None:
    loading = replace(LOADING, batch=batch, mixing=mixing, augmentation=Augmentation(crop=crop, flip=True, cutout=2))
    indices = torch.arange(3, COUNT)
    whole = list(training(EXAMPLES, indices, loading, 2))[start:]
    for rank in range(world):
        part = training(EXAMPLES, indices, replace(loading, rank=rank, world=world), 2, start)
        same(part, [(images[rank::world], targets[rank::world]) for images, targets in whole])


@pytest.mark.parametrize(("rank", "world"), [(0, 1), (1, 2)])
def test_examples_that_stay_on_a_device(rank: int, world: int) -> None:
    """Batches are those of the CPU, and all indices are copied once per epoch."""
    indices, here = torch.arange(COUNT), replace(LOADING, rank=rank, world=world)
    with stand_in() as mode:
        there = replace(here, device=DEVICE)
        found = training(EXAMPLES, indices, there, 0)
        same(((x.cpu(), y.cpu()) for x, y in found), training(EXAMPLES, indices, here, 0))
        with mode.watched() as seen:
            list(training(EXAMPLES, indices, there, 2))
        assert [fault.kind for fault in seen.faults] == ["copied"] * 4  # rows, random numbers, places, partners


def test_examples_that_are_read_when_needed() -> None:
    indices = torch.arange(45)
    read, held = Elsewhere(), InMemory(*Elsewhere().take(torch.arange(53)))
    loading = replace(LOADING, statistics=Statistics((0.0,) * 3, (1.0,) * 3), mixing=Mixing(1.0, 1.0, 53), world=2)
    same(training(read, indices, loading, 0), training(held, indices, loading, 0))


def test_both_kinds_take_turns() -> None:
    drawn = [draw_mix(Mixing(1.0, 1.0, 3), 8, 0, epoch, number) for epoch in range(4) for number in range(25)]
    assert 30 < sum(mix.centre is None for mix in drawn) < 70
    shares = torch.tensor([mix.share for mix in drawn])
    assert abs(shares.mean() - 0.5) < 0.1
    assert shares.std() == pytest.approx(12**-0.5, abs=0.05), "Beta(1, 1) is uniform"
    assert all(torch.equal(mix.partners.sort().values, torch.arange(8)) for mix in drawn)
    again = draw_mix(Mixing(1.0, 1.0, 3), 8, 0, 1, 2)
    assert (again.share, again.centre) == (drawn[27].share, drawn[27].centre)


@given(
    share=st.floats(0, 1),
    centre=st.tuples(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True)),
    height=st.integers(1, 9),
    width=st.integers(1, 9),
)
def test_a_box_of_the_partner(share: float, centre: tuple[float, float], height: int, width: int) -> None:
    """One rectangle, at most as large as asked for, and counted exactly."""
    ours, theirs = torch.zeros(2, 1, height, width), torch.ones(2, 1, height, width)
    found, part = mixed_images(Mix(torch.tensor([1, 0]), share, 2, centre), ours, theirs)
    assert part == pytest.approx(1 - found[0].mean().item(), abs=1e-6)
    assert part >= share - 1e-9
    rows, columns = found[0, 0].amax(1), found[0, 0].amax(0)
    assert torch.equal(found[0, 0], rows.unsqueeze(1) * columns)
    assert (ours == 0).all(), "the given images stay"


@given(share=st.floats(0, 1), smoothing=st.sampled_from([0.0, 0.1]), seed=st.integers(0, 99))
def test_the_loss_is_that_of_both_labels(share: float, smoothing: float, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    outputs = torch.randn(6, 4, generator=random)
    one, other = (torch.randint(4, (6,), generator=random) for _ in range(2))

    def entropy(labels: Tensor) -> Tensor:
        return F.cross_entropy(outputs, labels, label_smoothing=smoothing)

    found = CrossEntropy(smoothing)(outputs, probabilities(one, other, share, 4))
    torch.testing.assert_close(found, share * entropy(one) + (1 - share) * entropy(other))


def test_accuracy_counts_the_larger_share() -> None:
    chosen = config()
    outputs = torch.tensor([[5.0, 1.0, 0.0], [0.0, 1.0, 5.0], [1.0, 5.0, 0.0]])
    targets = torch.tensor([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4], [0.0, 1.0, 0.0]])
    network = nn.Linear(3, 3, bias=False)
    nn.init.eye_(network.weight)
    scaler = GradientScaler(torch.device("cpu"), enabled=False)
    loss, accuracy = backward(
        network, (outputs, targets), Classification(3), device(chosen), scaler, parts=1, smoothing=0.0, drop=0.0
    )
    assert float(accuracy) == pytest.approx(2 / 3)
    torch.testing.assert_close(loss, F.cross_entropy(outputs, targets))
