"""Recalibration of batch norms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


def recalibrate(module: nn.Module, batches: Iterable[Tensor]) -> int:
    """Set the running statistics of all batch norms to their averages over some batches; return the number of norms.

    Every batch counts equally, and is normalised by its own statistics, as in training, so norms see the outputs of
    earlier norms for the same batch. Everything else is as in evaluation: dropout is off. Weights and the modes of
    modules are not changed. Without a batch, nothing is changed.

    >>> network = nn.Sequential(nn.BatchNorm1d(1), nn.Dropout()).eval()
    >>> recalibrate(network, [torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])])
    1
    >>> network[0].running_mean, network[0].running_var
    (tensor([4.]), tensor([2.]))
    """
    norms = [norm for norm in module.modules() if isinstance(norm, _BatchNorm) and norm.track_running_stats]
    if not norms:
        return 0
    with _only_training(module, norms), torch.no_grad():
        for number, batch in enumerate(batches):
            if number == 0:
                for norm in norms:
                    norm.reset_running_stats()
            module(batch)
    return len(norms)


@contextmanager
def _only_training(module: nn.Module, norms: list[_BatchNorm]) -> Iterator[None]:
    """Put only these norms into training mode, with plain averages."""
    modes = {part: part.training for part in module.modules()}
    momenta = [norm.momentum for norm in norms]
    module.eval()
    for norm in norms:
        norm.train()
        norm.momentum = None  # the average over all batches since the reset
    try:
        yield
    finally:
        for part, training in modes.items():
            part.training = training
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
