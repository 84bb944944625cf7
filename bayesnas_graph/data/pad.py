"""Images with a black border, for networks that halve a size which cannot be halved often enough."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor
from torch.nn.functional import pad

from bayesnas_graph.data.model import Data, Examples
from bayesnas_graph.diagnostics import Diagnostic, NasError


@dataclass(frozen=True, eq=False)
class Padded:
    """Examples with so many black pixels on every side of an image."""

    examples: Examples
    pixels: int

    def __len__(self) -> int:
        return len(self.examples)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        images, labels = self.examples.take(indices)
        return pad(images, (self.pixels,) * 4), labels


def padded(data: Data, pixels: int) -> Data:
    """The same data with a border; themselves, if it has no pixels. Raises NasError if they are no images.

    >>> from pathlib import Path
    >>> from bayesnas_graph.data import load
    >>> padded(load("digits", Path("data")), 2).shape
    (1, 12, 12)
    """
    if pixels == 0:
        return data
    if len(data.shape) != 3:
        message = f"`{data.name}` has no images that could be padded: its shape is {data.shape}"
        raise NasError([Diagnostic("NAS504", message, help="set `pad` to 0")])
    channels, height, width = data.shape
    shape = (channels, height + 2 * pixels, width + 2 * pixels)
    return replace(data, train=Padded(data.train, pixels), test=Padded(data.test, pixels), shape=shape)
