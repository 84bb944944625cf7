"""Brightness, contrast, saturation and hue of images with values from 0 to 1."""

from __future__ import annotations

from math import pi, sqrt

import torch
from torch import Tensor


def blended(images: Tensor, base: Tensor, factor: Tensor) -> Tensor:
    """Return images moved away from a base, or towards it if the factor of an image is below 1.

    >>> blended(torch.full((1, 1, 1, 2), 0.6), torch.zeros(()), torch.tensor([0.5]))
    tensor([[[[0.3000, 0.3000]]]])
    """
    return (base + factor.view(-1, 1, 1, 1) * (images - base)).clamp(0, 1)


def grey(images: Tensor) -> Tensor:
    """Return images without colour; those that have not three channels stay."""
    if images.shape[1] != 3:
        return images
    red, green, blue = images.unbind(1)
    return (0.299 * red + 0.587 * green + 0.114 * blue).unsqueeze(1).expand_as(images)


def mean_grey(images: Tensor) -> Tensor:
    """Return the mean brightness of each image."""
    return grey(images).mean((1, 2, 3), keepdim=True)


def turned(images: Tensor, angles: Tensor) -> Tensor:
    """Return images with another hue: colours are rotated about grey. Those that have not three channels stay."""
    if images.shape[1] != 3:
        return images
    cosine, sine = (values.view(-1, 1, 1, 1) for values in (angles.cos(), angles.sin()))
    across = (images.roll(1, 1) - images.roll(-1, 1)) / sqrt(3)
    level = images.mean(1, keepdim=True)
    return (level + cosine * (images - level) + sine * across).clamp(0, 1)


def jitter(images: Tensor, strength: float, random: Tensor) -> Tensor:
    """Change each image by random factors from 1 - strength to 1 + strength of brightness, contrast and saturation.

    The hue changes by up to half of this strength, as a part of the circle.
    """
    brightness, contrast, saturation = (1 + strength * (2 * random[:, :3] - 1)).unbind(1)
    images = turned(images, pi * strength * (2 * random[:, 3] - 1))
    images = blended(images, torch.zeros((), device=images.device), brightness)
    images = blended(images, mean_grey(images), contrast)
    return blended(images, grey(images), saturation)
