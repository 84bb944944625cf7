"""Fetching batches in worker processes, and copying them to a device, while the previous batch is in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from bayesnas_graph.data.model import Examples, InMemory
from bayesnas_graph.data.workers import Batch, fetch_by_workers


def fetch(
    examples: Examples, index_batches: Sequence[Tensor], workers: int = 0, seeds: Sequence[int] = ()
) -> Iterator[Batch]:
    """Yield the examples for each tensor of indices, in order.

    Workers are not used for examples in memory, where indexing is faster. `seeds`, one for each batch, are for user
    code in the workers.
    """
    if isinstance(examples, InMemory) or not workers or not index_batches:
        return (examples.take(indices) for indices in index_batches)
    given = seeds or range(len(index_batches))
    return fetch_by_workers(examples, list(zip(given, index_batches, strict=True)), workers)


def to_device(device: torch.device, batches: Iterator[tuple[Tensor, ...]]) -> Iterator[tuple[Tensor, ...]]:
    """Yield the batches on a device; on a GPU the next batch is copied while the current one is in use."""
    if device.type == "cuda":
        return _prefetch(device, batches)
    return (tuple(tensor.to(device) for tensor in batch) for batch in batches)


def _prefetch(device: torch.device, batches: Iterator[tuple[Tensor, ...]]) -> Iterator[tuple[Tensor, ...]]:
    """Copy from pinned memory in a separate stream."""
    copying = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def begin() -> tuple[Tensor, ...] | None:
        batch = next(batches, None)
        if batch is None:
            return None
        with torch.cuda.stream(copying):
            return tuple(_pinned(tensor).to(device, non_blocking=True) for tensor in batch)

    coming = begin()
    while coming is not None:
        computing = torch.cuda.current_stream(device)
        computing.wait_stream(copying)
        for tensor in coming:
            tensor.record_stream(computing)  # keeps its memory until the last use in that stream
        current, coming = coming, begin()
        yield current


def _pinned(tensor: Tensor) -> Tensor:
    return tensor if tensor.is_cuda or tensor.is_pinned() else tensor.pin_memory()
