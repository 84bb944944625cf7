"""Fetching batches in worker processes, and copying them to a device, while the previous batch is in use."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from bayesnas_graph.data.model import Examples, InMemory
from bayesnas_graph.diagnostics import Diagnostic, NasError

Batch = tuple[Tensor, Tensor]
Answer = Batch | tuple[Diagnostic, ...]  # diagnostics of an exception are lost between processes


def fetch(
    examples: Examples, index_batches: Sequence[Tensor], workers: int = 0, random: torch.Generator | None = None
) -> Iterator[Batch]:
    """Yield the examples for each tensor of indices, in order.

    Workers are not used for examples in memory, where indexing is faster. `random` seeds user code in the workers.
    """
    if isinstance(examples, InMemory) or not workers or not index_batches:
        return (examples.take(indices) for indices in index_batches)
    return _by_workers(examples, index_batches, min(workers, len(index_batches)), random or torch.Generator())


def to_device(device: torch.device, batches: Iterator[tuple[Tensor, ...]]) -> Iterator[tuple[Tensor, ...]]:
    """Yield the batches on a device; on a GPU the next batch is copied while the current one is in use."""
    if device.type == "cuda":
        return _prefetch(device, batches)
    return (tuple(tensor.to(device) for tensor in batch) for batch in batches)


class _Rows(Dataset[Answer]):
    """Examples for a data loader that asks for a whole batch at a time."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples

    def __getitem__(self, indices: Tensor) -> Answer:
        try:
            return self.examples.take(indices)
        except NasError as error:
            return error.diagnostics


def _ignore_interrupts(_: int) -> None:
    """Ctrl-C reaches all processes, but only the main process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _unchanged(answer: Any) -> Any:
    return answer


def _by_workers(
    examples: Examples, index_batches: Sequence[Tensor], workers: int, random: torch.Generator
) -> Iterator[Batch]:
    loader: DataLoader[Answer] = DataLoader(
        _Rows(examples),
        sampler=index_batches,
        batch_size=None,
        collate_fn=_unchanged,
        num_workers=workers,
        worker_init_fn=_ignore_interrupts,
        generator=random,  # otherwise the global generator is advanced
    )
    # Created in the main thread, it would handle SIGCHLD and raise in the middle of any computation when a worker is
    # killed. Created in another thread, the error is raised when the next batch is requested.
    with ThreadPoolExecutor(1) as thread:
        answers = thread.submit(iter, loader).result()
    problems: tuple[Diagnostic, ...] = ()
    try:
        while not problems:
            answer = _next(answers)
            if answer is None:
                return
            if isinstance(answer, tuple) and isinstance(answer[0], Diagnostic):
                problems = answer
            else:
                yield answer
    finally:
        del answers  # ends the workers
    raise NasError(problems)


def _next(answers: Iterator[Any]) -> Any:
    """The next answer: None at the end, a diagnostic if a worker died."""
    try:
        return next(answers, None)
    except (RuntimeError, OSError, EOFError) as error:
        message = f"a data worker process died: {str(error).partition(chr(10))[0]}"
        help = "it may have run out of memory: use fewer workers, or `-s workers=0` to see the error itself"
        return (Diagnostic("NAS505", message, help=help),)


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
