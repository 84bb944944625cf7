"""Whole batches of images moved, mirrored, covered and normalised at once, each image by random numbers of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from bayesnas_graph.data.model import Statistics


@dataclass(frozen=True)
class Augmentation:
    """What is done to the images of a training batch; by default nothing."""

    crop: int = 0  # pixels of padding, out of which the image is cut again at random
    flip: bool = False  # every other image is mirrored, left and right
    cutout: int = 0  # side in pixels of a square that is covered; its centre is anywhere in the image


def augment(images: Tensor, how: Augmentation, generator: torch.Generator) -> Tensor:
    """Augmented images. What is covered, or comes from outside, is 0."""
    random = draws(len(images), generator)
    return cut(move(images, how, random), how, random)


def draws(count: int, generator: torch.Generator) -> Tensor:
    """Five random numbers for each image, whatever is done with them: up, sideways, mirrored, and where it is covered.

    A row belongs to an image, so that the rows of a part of a batch augment that part as they would in the whole.
    """
    return torch.rand(count, 5, generator=generator, device=generator.device)


def move(images: Tensor, how: Augmentation, random: Tensor) -> Tensor:
    """Images cropped and mirrored by the rows of `draws`."""
    if not how.crop and not how.flip:
        return images
    count, channels, height, width = images.shape
    padded = F.pad(images, (how.crop,) * 4) if how.crop else images
    offsets = (random[:, :2].to(images.device) * (2 * how.crop + 1)).long()
    rows = offsets[:, :1] + torch.arange(height, device=images.device)
    columns = offsets[:, 1:] + torch.arange(width, device=images.device)
    if how.flip:
        mirrored = random[:, 2:3].to(images.device) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
    # One number per pixel for all channels: a single gather is several times as fast as indexing by rows and columns.
    pixels = rows.unsqueeze(2) * (width + 2 * how.crop) + columns.unsqueeze(1)
    wanted = pixels.view(count, 1, height * width).expand(count, channels, height * width)
    return padded.flatten(2).gather(2, wanted).view(images.shape)


def cut(images: Tensor, how: Augmentation, random: Tensor) -> Tensor:
    """Images with a square of each set to 0, by the rows of `draws`. At a border less than the square is covered."""
    if not how.cutout:
        return images
    random = random.to(images.device)
    rows = _covered(images.shape[2], how.cutout, random[:, 3:4])
    columns = _covered(images.shape[3], how.cutout, random[:, 4:5])
    covered = (rows.unsqueeze(2) & columns.unsqueeze(1)).unsqueeze(1)
    return images * ~covered


def _covered(length: int, side: int, random: Tensor) -> Tensor:
    """Which rows, or columns, of each image are covered."""
    first = (random * length).long() - side // 2
    place = torch.arange(length, device=random.device)
    return (place >= first) & (place < first + side)


def normalise(images: Tensor, statistics: Statistics) -> Tensor:
    """Float32 images with a mean of 0 and a deviation of 1 in every channel.

    Bytes run from 0 to 255 and floating-point numbers from 0 to 1.
    """
    white = 1.0 if images.is_floating_point() else 255.0
    shift, scale = _line(statistics, white, images.ndim, images.device)
    return torch.addcmul(shift, images.float(), scale)


@cache  # because a copy to a GPU would wait for all that it is computing
def _line(statistics: Statistics, white: float, dimensions: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """What is added to every channel, and what it is multiplied by."""
    shape = (-1, *(1,) * (dimensions - 2))
    mean = torch.tensor(statistics.mean, device=device).view(shape)
    deviation = torch.tensor(statistics.deviation, device=device).view(shape)
    return -mean / deviation, 1 / (white * deviation)
