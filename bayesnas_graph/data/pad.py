"""A black border around images, for networks that halve the image size more often than it divides."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor
from torch.nn.functional import pad

from bayesnas_graph.data.model import Data, Examples
from bayesnas_graph.diagnostics import Diagnostic, NasError


@dataclass(frozen=True, eq=False)
class Padded:
    """Examples with `pixels` black pixels on every side."""

    examples: Examples
    pixels: int

    def __len__(self) -> int:
        return len(self.examples)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        images, labels = self.examples.take(indices)
        return pad(images, (self.pixels,) * 4), labels


def padded(data: Data, pixels: int) -> Data:
    """Return the data with a border of `pixels` around every image. Raises NasError if the data are not images.

    >>> from pathlib import Path
    >>> from bayesnas_graph.data import load
    >>> padded(load("digits", Path("data")), 2).shape
    (1, 12, 12)
    """
    if pixels == 0:
        return data
    if len(data.shape) != 3:
        message = f"`{data.name}` cannot be padded: its examples have shape {data.shape}, not that of an image"
        raise NasError([Diagnostic("NAS504", message, help="set `pad` to 0")])
    channels, height, width = data.shape
    shape = (channels, height + 2 * pixels, width + 2 * pixels)
    return replace(data, train=Padded(data.train, pixels), test=Padded(data.test, pixels), shape=shape)
