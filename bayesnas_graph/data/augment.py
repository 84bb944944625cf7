"""Random crop, flip and cutout of a whole batch at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Augmentation:
    """The augmentation of training images; none by default."""

    crop: int = 0  # pixels of padding before a random crop to the original size
    flip: bool = False  # mirror half of the images horizontally
    cutout: int = 0  # side in pixels of a square that is erased, centred anywhere in the image


def augment(images: Tensor, augmentation: Augmentation, generator: torch.Generator) -> Tensor:
    """Return the images augmented; erased and padded pixels are 0."""
    random = draws(len(images), generator)
    return erase(crop_and_flip(images, augmentation, random), augmentation, random)


def draws(count: int, generator: torch.Generator) -> Tensor:
    """Five random numbers per image, whichever augmentations are on: crop y and x, flip, cutout y and x.

    Each image has its own row, so part of a batch is augmented as it would be within the whole batch.
    """
    return torch.rand(count, 5, generator=generator, device=generator.device)


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
