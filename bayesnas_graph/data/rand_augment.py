"""Random operations on images with values from 0 to 1, all images of a batch at once."""

from __future__ import annotations

from math import pi

import torch
from torch import Tensor
from torch.nn import functional as F

from bayesnas_graph.data.colour import blended, grey, mean_grey
from bayesnas_graph.data.warp import sampled

STRONGEST = 10.0  # magnitude

# The amount of each operation at the largest magnitude. It is positive or negative at random where that differs.
OPERATIONS = {
    "identity": 0.0,
    "auto_contrast": 1.0,  # at any magnitude
    "rotate": pi / 6,
    "shear_x": 0.3,
    "shear_y": 0.3,
    "shift_x": 0.3,  # of the width
    "shift_y": 0.3,
    "brightness": 0.9,
    "contrast": 0.9,
    "saturation": 0.9,
    "sharpness": 0.9,
    "posterize": 4.0,  # bits that are lost
    "solarize": 1.0,  # range of values that is inverted, from white
}


def rand_augment(images: Tensor, magnitude: float, random: Tensor) -> Tensor:
    """Apply random operations to each image, one after another: one for every two of its random numbers."""
    for choice, sign in zip(random[:, ::2].unbind(1), random[:, 1::2].unbind(1), strict=True):
        numbers = (choice * len(OPERATIONS)).long()
        images = operated(images, numbers, torch.where(sign < 0.5, -magnitude, magnitude))
    return images


def operated(images: Tensor, numbers: Tensor, magnitudes: Tensor) -> Tensor:
    """Apply an operation to each image, given by its number and a magnitude from -10 to 10.

    All are computed for all images, with an amount of 0 where they are not meant: which images they are meant for is
    known on the device only.
    """
    amounts = {
        name: magnitudes * (most / STRONGEST) * (numbers == number)
        for number, (name, most) in enumerate(OPERATIONS.items())
    }
    stretched = numbers == list(OPERATIONS).index("auto_contrast")
    images = torch.where(_by_image(stretched), auto_contrast(images), images)
    images = _moved(images, amounts)
    images = _coloured(images, amounts)
    return solarize(posterize(images, amounts["posterize"].abs()), amounts["solarize"].abs())


def auto_contrast(images: Tensor) -> Tensor:
    """Stretch every channel to the range from 0 to 1."""
    low, high = images.amin((2, 3), keepdim=True), images.amax((2, 3), keepdim=True)
    return torch.where(high > low, (images - low) / (high - low).clamp(min=1e-6), images)


def posterize(images: Tensor, bits: Tensor) -> Tensor:
    """Leave out the lowest bits of the bytes of each image."""
    step = _by_image(torch.pow(2, bits.round().long()))
    fewer = ((images * 255).round() / step).floor() * step / 255
    return torch.where(step > 1, fewer, images)


def solarize(images: Tensor, amount: Tensor) -> Tensor:
    """Invert the values that are above 1 minus the amount."""
    return torch.where(images > 1 - _by_image(amount), 1 - images, images)


def _moved(images: Tensor, amounts: dict[str, Tensor]) -> Tensor:
    """Rotate, shear and shift."""
    height, width = images.shape[2:]
    cosine, sine = amounts["rotate"].cos(), amounts["rotate"].sin()
    maps = [
        [cosine, (amounts["shear_x"] - sine) * (height / width), 2 * amounts["shift_x"]],
        [(amounts["shear_y"] + sine) * (width / height), cosine, 2 * amounts["shift_y"]],
    ]
    moves = sum(amounts[name].abs() for name in ("rotate", "shear_x", "shear_y", "shift_x", "shift_y"))
    assert isinstance(moves, Tensor)
    found = sampled(images, torch.stack([torch.stack(row, 1) for row in maps], 1))
    return torch.where(_by_image(moves > 0), found, images)


def _coloured(images: Tensor, amounts: dict[str, Tensor]) -> Tensor:
    """Change brightness, contrast, saturation and sharpness: each is a distance from another image."""
    blurred = (9 * F.avg_pool2d(images, 3, 1, 1, count_include_pad=False) + 4 * images) / 13
    base, factor = torch.zeros_like(images), 1 + amounts["brightness"]
    for name, other in (("contrast", mean_grey(images)), ("saturation", grey(images)), ("sharpness", blurred)):
        base = torch.where(_by_image(amounts[name] != 0), other, base)
        factor = factor + amounts[name]
    return blended(images, base, factor)


def _by_image(values: Tensor) -> Tensor:
    return values.view(-1, 1, 1, 1)
