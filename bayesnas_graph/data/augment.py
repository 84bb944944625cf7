"""Augmentation of a whole batch of images at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from bayesnas_graph.data.colour import jitter
from bayesnas_graph.data.custom_augment import CustomAugmentation
from bayesnas_graph.data.rand_augment import rand_augment
from bayesnas_graph.data.warp import resized_crop

MARGIN = slice(0, 5)  # numbers for crop, flip and cutout
PART = slice(5, 9)  # for resized crops
COLOUR = slice(9, 13)  # for jitter
REST = slice(13, None)  # two for each random operation


@dataclass(frozen=True)
class Augmentation:
    """The augmentation of training images; none by default."""

    crop: int = 0  # pixels of padding before a random crop to the original size
    flip: bool = False  # mirror half of the images horizontally
    cutout: int = 0  # side in pixels of a square that is erased, centred anywhere in the image
    resized_crop: float = 0.0  # smallest share of the area of a random part that is enlarged; 0 for none
    jitter: float = 0.0  # strength of random changes of colours
    rand_augment: int = 0  # random operations
    rand_magnitude: float = 9.0  # of these operations, at most 10
    custom: CustomAugmentation | None = None  # follows them

    @property
    def transforms(self) -> bool:
        """Whether values of pixels change, so that images cannot stay bytes."""
        return bool(self.resized_crop or self.jitter or self.rand_augment or self.custom)


def augment(images: Tensor, augmentation: Augmentation, generator: torch.Generator) -> Tensor:
    """Return the images augmented; erased and padded pixels are 0."""
    random = draws(len(images), generator, augmentation)
    changed = transform(crop_and_flip(images, augmentation, random), augmentation, random)
    if augmentation.custom is not None:
        changed = augmentation.custom(changed, generator)
    return erase(changed, augmentation, random)


def draws(count: int, generator: torch.Generator, augmentation: Augmentation) -> Tensor:
    """Random numbers for each image: five whichever augmentations are on, and more if values of pixels change.

    Each image has its own row, so part of a batch is augmented as it would be within the whole batch.
    """
    first = torch.rand(count, MARGIN.stop, generator=generator, device=generator.device)
    if not augmentation.transforms:
        return first
    more = REST.start - MARGIN.stop + 2 * augmentation.rand_augment
    return torch.cat([first, torch.rand(count, more, generator=generator, device=generator.device)], 1)


def transform(images: Tensor, augmentation: Augmentation, random: Tensor) -> Tensor:
    """Return the images with other pixels, according to the rows of `draws`: numbers from 0 to 1 if any change.

    Custom augmentation is left to the caller, who has the whole batch.
    """
    if not augmentation.transforms:
        return images
    images, random = as_numbers(images), random.to(images.device)
    if augmentation.resized_crop:
        images = resized_crop(images, augmentation.resized_crop, random[:, PART])
    if augmentation.rand_augment:
        images = rand_augment(images, augmentation.rand_magnitude, random[:, REST])
    if augmentation.jitter:
        images = jitter(images, augmentation.jitter, random[:, COLOUR])
    return images


def as_numbers(images: Tensor) -> Tensor:
    """Return images with values from 0 to 1 in place of bytes."""
    return images if images.is_floating_point() else images.float() / 255


def crop_and_flip(images: Tensor, augmentation: Augmentation, random: Tensor) -> Tensor:
    """Return the images cropped and flipped according to the rows of `draws`."""
    if not augmentation.crop and not augmentation.flip:
        return images
    count, channels, height, width = images.shape
    padded = F.pad(images, (augmentation.crop,) * 4) if augmentation.crop else images
    offsets = (random[:, :2].to(images.device) * (2 * augmentation.crop + 1)).long()
    rows = offsets[:, :1] + torch.arange(height, device=images.device)
    columns = offsets[:, 1:] + torch.arange(width, device=images.device)
    if augmentation.flip:
        mirrored = random[:, 2:3].to(images.device) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
    # One index per pixel for all channels: a single gather is several times faster than indexing rows and columns.
    pixels = rows.unsqueeze(2) * (width + 2 * augmentation.crop) + columns.unsqueeze(1)
    indices = pixels.view(count, 1, height * width).expand(count, channels, height * width)
    return padded.flatten(2).gather(2, indices).view(images.shape)


def erase(images: Tensor, augmentation: Augmentation, random: Tensor) -> Tensor:
    """Return the images with a square of each set to 0, according to the rows of `draws`; borders clip the square."""
    if not augmentation.cutout:
        return images
    random = random.to(images.device)
    rows = _covered(images.shape[2], augmentation.cutout, random[:, 3:4])
    columns = _covered(images.shape[3], augmentation.cutout, random[:, 4:5])
    covered = (rows.unsqueeze(2) & columns.unsqueeze(1)).unsqueeze(1)
    return images * ~covered


def _covered(length: int, side: int, random: Tensor) -> Tensor:
    """Mask of the rows, or columns, of each image inside its square."""
    first = (random * length).long() - side // 2
    index = torch.arange(length, device=random.device)
    return (index >= first) & (index < first + side)
