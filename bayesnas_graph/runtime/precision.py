"""The precision of arithmetic on gates: double where a device has it, single on Apple's GPUs, which do not.

Gates are few, so double precision costs nothing; it is there for sums over thousands of steps, and for differences of
nearly equal numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor

WITHOUT_DOUBLE = frozenset({"mps"})  # types of devices


def gate_dtype(device: torch.device | str) -> torch.dtype:
    """The type of numbers about gates on a device.

    >>> gate_dtype("cpu"), gate_dtype("mps")
    (torch.float64, torch.float32)
    """
    return torch.float32 if torch.device(device).type in WITHOUT_DOUBLE else torch.float64


def precise(x: Tensor) -> Tensor:
    """The same numbers in the type of numbers about gates."""
    return x.to(gate_dtype(x.device))


def moved(x: Tensor, device: torch.device | str) -> Tensor:
    """Numbers about gates on another device, rounded before they are there."""
    return x.to(gate_dtype(device)).to(device)


def sent(x: Tensor, device: torch.device | str) -> Tensor:
    """A copy on another device of a tensor on the CPU. With CUDA, the program does not wait for the device."""
    if torch.device(device).type == "cuda":
        return x.pin_memory().to(device, non_blocking=True)
    return x.to(device)


def tiny(dtype: torch.dtype) -> float:
    """A positive number that is as good as zero, and whose reciprocal is finite.

    >>> tiny(torch.float64), 0 < tiny(torch.float32) < 1e-37
    (1e-300, True)
    """
    return max(1e-300, torch.finfo(dtype).tiny)
