"""Augmentation by user code: `package.module:function`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.data.checked import error_text, reject, shape_text, value_text
from bayesnas_graph.data.custom import imported
from bayesnas_graph.diagnostics import NasError

HELP = "it takes a batch of images and a `torch.Generator`, and returns as many images of the same shape and type"


@dataclass(frozen=True)
class CustomAugmentation:
    """A function of a whole batch, with values from 0 to 1 before they are normalised, and a random generator."""

    spec: str
    function: Callable[[Tensor, torch.Generator], Any]

    @staticmethod
    def of(spec: str) -> CustomAugmentation:
        """Import a function. Raises NasError."""
        return CustomAugmentation(spec, imported(spec, HELP))

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return the images changed. Raises NasError if the function fails, or returns anything else."""
        try:
            found = self.function(images, generator)
        except NasError:
            raise
        except Exception as error:
            reject(self.spec, f"failed: {error_text(error)}", HELP)
        if not isinstance(found, Tensor):
            reject(self.spec, f"returned {value_text(found)} instead of images", HELP)
        if found.shape != images.shape:
            reject(self.spec, f"returned {shape_text(found.shape)} for {shape_text(images.shape)}", HELP)
        if found.dtype != images.dtype or found.device != images.device:
            kinds = [f"{str(one.dtype)[6:]} on {one.device}" for one in (found, images)]
            reject(self.spec, f"returned {kinds[0]} for {kinds[1]}", HELP)
        return found
