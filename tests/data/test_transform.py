"""Augmentation that changes the values of pixels: resized crops, jitter and random operations."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from bayesnas_graph.data import Augmentation, Mixing, augment, training
from bayesnas_graph.data.colour import grey, jitter, turned
from bayesnas_graph.data.rand_augment import OPERATIONS, auto_contrast, operated, rand_augment
from bayesnas_graph.data.warp import resized_crop, sampled
from tests.data.test_batches import LOADING, MEMORY, same
from tests.search.stand_in import DEVICE, stand_in

ALL = Augmentation(1, True, 2, resized_crop=0.2, jitter=0.5, rand_augment=3, rand_magnitude=8.0)
NAMES = list(OPERATIONS)


def pictures(seed: int = 0, count: int = 5, channels: int = 3, height: int = 6, width: int = 9) -> Tensor:
    """Random images of 256 grey levels."""
    drawn = torch.randint(256, (count, channels, height, width), generator=torch.Generator().manual_seed(seed))
    return drawn / 255


def done(name: str, images: Tensor, magnitude: float) -> Tensor:
    """One operation on all images."""
    return operated(images, torch.full((len(images),), NAMES.index(name)), torch.full((len(images),), magnitude))


@settings(max_examples=25)
@given(start=st.integers(0, 4), world=st.integers(1, 4), batch=st.integers(4, 20), mixing=st.booleans())
def test_any_start_and_any_number_of_processes(start: int, world: int, batch: int, mixing: bool) -> None:
    loading = replace(LOADING, batch=batch, augmentation=ALL, mixing=Mixing(0.3, 1.0, 53) if mixing else None)
    indices = torch.arange(3, 53)
    whole = list(training(MEMORY, indices, loading, 2))[start:]
    for rank in range(world):
        part = training(MEMORY, indices, replace(loading, rank=rank, world=world), 2, start)
        same(part, [(images[rank::world], labels[rank::world]) for images, labels in whole])


def test_other_augmentation_does_not_change_crops() -> None:
    """The first random numbers are the same."""
    images = torch.randint(0, 256, (6, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    plain = augment(images, replace(ALL, resized_crop=0.0, jitter=0.0, rand_augment=0), torch.Generator())
    weak = replace(ALL, resized_crop=0.0, jitter=1e-9, rand_augment=0)
    torch.testing.assert_close(augment(images, weak, torch.Generator()), plain / 255)


def test_on_a_device() -> None:
    """Nothing waits for the device, and only indices and random numbers are copied."""
    loading, indices = replace(LOADING, augmentation=ALL), torch.arange(53)
    with stand_in() as mode:
        there = replace(loading, device=DEVICE)
        same(
            ((x.cpu(), y.cpu()) for x, y in training(MEMORY, indices, there, 0)), training(MEMORY, indices, loading, 0)
        )
        with mode.watched() as seen:
            list(training(MEMORY, indices, there, 2))
        assert [fault.kind for fault in seen.faults] == ["copied"] * 2


@given(seed=st.integers(0, 99), magnitude=st.floats(0, 10), channels=st.sampled_from([1, 2, 3]))
def test_values_stay_between_0_and_1(seed: int, magnitude: float, channels: int) -> None:
    images = pictures(seed, channels=channels)
    random = torch.rand(5, 8, generator=torch.Generator().manual_seed(seed))
    for found in (
        rand_augment(images, magnitude, random),
        jitter(images, magnitude / 10, random[:, :4]),
        resized_crop(images, magnitude / 11, random[:, :4]),
    ):
        assert found.shape == images.shape
        assert found.min() >= 0
        assert found.max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_an_operation(name: str) -> None:
    """It changes only images that it is meant for, in both directions, and does nothing at magnitude 0."""
    images = pictures()
    changed = torch.stack([done(name, images, magnitude) for magnitude in (-8.0, 8.0)])
    assert torch.equal(changed[0], images) == (name == "identity")
    signless = name in ("identity", "auto_contrast", "posterize", "solarize")
    assert torch.equal(changed[0], changed[1]) == signless
    assert name == "auto_contrast" or torch.equal(done(name, images, 0.0), images)
    numbers = torch.tensor([NAMES.index(name), 0, NAMES.index(name), 0, 0])
    torch.testing.assert_close(
        operated(images, numbers, torch.full((5,), 8.0)), torch.where(numbers.view(-1, 1, 1, 1) > 0, changed[1], images)
    )


def test_every_operation_is_drawn() -> None:
    images = pictures(count=3000, height=4, width=4)[:1].expand(3000, -1, -1, -1)
    found = rand_augment(images, 10.0, torch.rand(3000, 2, generator=torch.Generator().manual_seed(0)))
    kinds = {tuple(image.flatten().tolist()) for image in found}
    assert len(kinds) == 4 + 2 * (len(OPERATIONS) - 4), "some have a direction"


def test_what_operations_do() -> None:
    images = pictures(height=10, width=20)
    torch.testing.assert_close(done("shift_x", images, 10.0)[..., :14], images[..., 6:])
    torch.testing.assert_close(done("shift_y", images, -10.0)[:, :, 3:], images[:, :, :7])
    assert done("shift_x", images, 10.0)[..., 14:].abs().max() < 1e-6, "black comes in"
    torch.testing.assert_close(done("solarize", images, 10.0), torch.where(images > 0, 1 - images, images))
    assert len(set((done("posterize", images, 10.0) * 255).round().flatten().tolist())) == 16
    torch.testing.assert_close(done("brightness", images, -10.0), images * 0.1)
    torch.testing.assert_close(done("saturation", images, -10.0), grey(images) + 0.1 * (images - grey(images)))
    stretched = auto_contrast(0.2 + 0.3 * images)
    torch.testing.assert_close(stretched.amin((2, 3)), torch.zeros(5, 3))
    torch.testing.assert_close(stretched.amax((2, 3)), torch.ones(5, 3))


def test_maps_are_those_of_torch() -> None:
    images, angle = pictures(height=8, width=8), 0.3
    turn = torch.tensor([[cos(angle), -sin(angle), 0.1], [sin(angle), cos(angle), -0.2]]).expand(5, 2, 3)
    grid = F.affine_grid(turn, list(images.shape), align_corners=False)
    torch.testing.assert_close(sampled(images, turn), F.grid_sample(images, grid, align_corners=False))
    square = done("rotate", images, 10.0)
    turn = torch.tensor([[cos(pi / 6), -sin(pi / 6), 0.0], [sin(pi / 6), cos(pi / 6), 0.0]]).expand(5, 2, 3)
    torch.testing.assert_close(square, sampled(images, turn))


def test_a_rotation_keeps_angles_in_images_that_are_not_square() -> None:
    """Three rotations by 30 degrees turn a horizontal line into a vertical one."""
    image = torch.zeros(1, 1, 31, 61)
    image[:, :, 15, 20:41] = 1
    for _ in range(3):
        image = done("rotate", image, 10.0)
    down, across = image[0, 0].sum(1), image[0, 0].sum(0)
    assert int((down > 0.3).sum()) >= 19
    assert int((across > 2).sum()) <= 5


@given(seed=st.integers(0, 999), smallest=st.floats(0.05, 0.99), height=st.integers(4, 20), width=st.integers(4, 20))
def test_a_resized_crop_is_a_part(seed: int, smallest: float, height: int, width: int) -> None:
    """In an image that gets brighter evenly, the slopes are the sides of the part."""
    random = torch.rand(50, 4, generator=torch.Generator().manual_seed(seed))
    x = ((torch.arange(width) + 0.5) / width).expand(height, width)
    y = ((torch.arange(height) + 0.5) / height).unsqueeze(1).expand(height, width)
    found = resized_crop(torch.stack([x, y]).expand(50, 2, height, width), smallest, random)
    inner = found[:, :, 1:-1, 1:-1]
    across = (found[:, 0, height // 2].diff(dim=1).amax(1) * width).clamp(max=1)
    down = (found[:, 1, :, width // 2].diff(dim=1).amax(1) * height).clamp(max=1)
    areas, ratios = across * down, (across * width) / (down * height)
    whole = (across > 0.999) | (down > 0.999)
    assert (areas[~whole] > smallest - 1e-3).all()
    assert (ratios[~whole] < 4 / 3 + 1e-2).all()
    assert (ratios[~whole] > 3 / 4 - 1e-2).all()
    assert inner.numel() == 0 or (inner.min() >= 0 and inner.max() <= 1)
    assert (found.diff(dim=3)[:, 0] > -1e-5).all(), "nothing is mirrored"


def test_hue() -> None:
    """A third of the circle makes red green; grey stays, and so does brightness within the range."""
    red = torch.tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1)
    turns = torch.tensor([0.0, 2 * pi / 3, 4 * pi / 3, 2 * pi])
    found = turned(red.expand(4, 3, 1, 1), turns).flatten(1)
    torch.testing.assert_close(found, torch.eye(3)[[0, 1, 2, 0]], atol=1e-6, rtol=0)
    pale = 0.5 + 0.1 * (pictures() - 0.5)
    angles = torch.arange(5.0)
    torch.testing.assert_close(turned(pale, angles).mean(1), pale.mean(1))
    same_grey = torch.full((5, 3, 2, 2), 0.3)
    torch.testing.assert_close(turned(same_grey, angles), same_grey)


def test_jitter_of_no_strength() -> None:
    images = pictures()
    torch.testing.assert_close(jitter(images, 0.0, torch.rand(5, 4)), images)
    brighter = jitter(images[:, :1], 0.5, torch.tensor([[1.0, 0.5, 0.5, 0.5]]).expand(5, 4))
    torch.testing.assert_close(brighter, (1.5 * images[:, :1]).clamp(max=1))
