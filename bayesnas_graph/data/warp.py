"""Images sampled at other places: rotated, sheared, moved, or a part of them enlarged."""

from __future__ import annotations

from math import log

import torch
from torch import Tensor
from torch.nn import functional as F

RATIO = 4 / 3  # of the sides of a random part, at most


def sampled(images: Tensor, maps: Tensor, *, inside: bool = False) -> Tensor:
    """Return images whose pixel at (x, y, 1) is the one at `map @ (x, y, 1)` of the given image; black outside.

    The corners of an image are at -1 and 1. There is a map of 2x3 numbers for each image. With `inside`, places outside
    take the nearest pixel.
    """
    grids = []
    y, x = (_places(side, images.device) for side in images.shape[2:])
    # Multiplied one by one: a matrix product could round differently for another number of images.
    for axis, side in ((0, images.shape[3]), (1, images.shape[2])):
        a, b, c = (maps[:, axis, column].view(-1, 1, 1) for column in range(3))
        grid = a * x + b * y.unsqueeze(1) + c
        grids.append(grid.clamp(1 / side - 1, 1 - 1 / side) if inside else grid)
    return F.grid_sample(images, torch.stack(grids, 3), align_corners=False)


def resized_crop(images: Tensor, smallest: float, random: Tensor) -> Tensor:
    """Return a random part of each image, enlarged to its size. It has at least the share `smallest` of the area.

    The four random numbers of an image decide the area, the ratio of width and height, and the position.
    """
    height, width = images.shape[2:]
    area = smallest + (1 - smallest) * random[:, 0]
    ratio = torch.exp((2 * random[:, 1] - 1) * log(RATIO))
    across = (area * ratio * (height / width)).sqrt().clamp(max=1)
    down = (area / ratio * (width / height)).sqrt().clamp(max=1)
    zero = torch.zeros_like(across)
    right, below = ((1 - part) * (2 * place - 1) for part, place in ((across, random[:, 2]), (down, random[:, 3])))
    maps = torch.stack([torch.stack([across, zero, right], 1), torch.stack([zero, down, below], 1)], 1)
    return sampled(images, maps, inside=True)


def _places(side: int, device: torch.device) -> Tensor:
    """The places of the pixels along a side."""
    return (2 * torch.arange(side, device=device) + 1) / side - 1
