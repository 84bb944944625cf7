"""Batch augmentation equals a loop over single images."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.data import Augmentation, Statistics, augment, normalise
from bayesnas_graph.data.augment import draws


def one_by_one(images: Tensor, how: Augmentation, random: Tensor) -> Tensor:
    """The same augmentation, one image at a time."""
    results = []
    for image, numbers in zip(images, random.tolist(), strict=True):
        channels, height, width = image.shape
        padded = torch.zeros(channels, height + 2 * how.crop, width + 2 * how.crop, dtype=image.dtype)
        padded[:, how.crop : how.crop + height, how.crop : how.crop + width] = image
        top, left = (int(number * (2 * how.crop + 1)) for number in numbers[:2])
        result = padded[:, top : top + height, left : left + width].clone()
        if how.flip and numbers[2] < 0.5:
            result = result.flip(2)
        row, column = int(numbers[3] * height) - how.cutout // 2, int(numbers[4] * width) - how.cutout // 2
        result[:, max(row, 0) : max(row + how.cutout, 0), max(column, 0) : max(column + how.cutout, 0)] = 0
        results.append(result)
    return torch.stack(results)


@given(
    how=st.builds(Augmentation, crop=st.integers(0, 5), flip=st.booleans(), cutout=st.integers(0, 12)),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 3), st.integers(1, 11), st.integers(1, 11)),
    dtype=st.sampled_from([torch.uint8, torch.float32]),
    seed=st.integers(0, 1000),
)
def test_augment(how: Augmentation, shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> None:
    images = torch.randint(1, 256, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)
    found = augment(images, how, torch.Generator().manual_seed(seed))
    expected = one_by_one(images, how, draws(len(images), torch.Generator().manual_seed(seed), how))
    assert found.dtype == dtype
    assert torch.equal(found, expected)


def test_every_image_is_augmented_independently() -> None:
    images = torch.arange(1, 65, dtype=torch.uint8).reshape(1, 1, 8, 8).expand(2000, 1, 8, 8)
    for how in (Augmentation(crop=2), Augmentation(flip=True), Augmentation(cutout=3)):
        found = augment(images, how, torch.Generator().manual_seed(0))
        kinds = len({tuple(image.flatten().tolist()) for image in found})
        assert kinds == {(2, False): 25, (0, True): 2}.get((how.crop, how.flip), 64), how


def test_images_in_any_layout() -> None:
    images = torch.rand(4, 3, 6, 6)
    how = Augmentation(crop=1, flip=True, cutout=2)
    last = images.contiguous(memory_format=torch.channels_last)
    assert torch.equal(augment(images, how, torch.Generator()), augment(last, how, torch.Generator()))


def test_nothing_is_done_to_the_images_that_were_given() -> None:
    images = torch.ones(4, 3, 6, 6)
    augment(images, Augmentation(2, True, 4), torch.Generator())
    assert images.min() == 1


def test_normalise() -> None:
    statistics = Statistics((0.25, 0.5), (0.5, 2.0))
    images = torch.tensor([[0, 255], [51, 255]], dtype=torch.uint8).reshape(2, 2, 1, 1)
    expected = torch.tensor([[-0.5, 0.25], [-0.1, 0.25]])
    assert normalise(images, statistics).dtype == torch.float32
    assert normalise(images, statistics).flatten(1) == pytest.approx(expected, abs=1e-6)
    assert normalise(images.double() / 255, statistics).flatten(1) == pytest.approx(expected, abs=1e-6)
    assert normalise(images[:, :, 0, 0], statistics) == pytest.approx(expected, abs=1e-6)
