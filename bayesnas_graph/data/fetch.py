"""Batches of examples, brought to where they are needed while others are worked on."""

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
Answer = Batch | tuple[Diagnostic, ...]  # an exception would lose its diagnostics on the way between processes


def fetch(
    examples: Examples, wanted: Sequence[Tensor], workers: int = 0, random: torch.Generator | None = None
) -> Iterator[Batch]:
    """The examples that each tensor of indices names, in order.

    Worker processes fetch what is not in memory; indexing what is takes less time than asking them. Nothing here is
    random, but the user's own code in a worker may be: it is seeded from `random`.
    """
    if isinstance(examples, InMemory) or not workers or not wanted:
        return (examples.take(indices) for indices in wanted)
    return _by_workers(examples, wanted, min(workers, len(wanted)), random or torch.Generator())


def onto(device: torch.device, batches: Iterator[tuple[Tensor, ...]]) -> Iterator[tuple[Tensor, ...]]:
    """The batches on a device. On a GPU the next one is copied while one is in use."""
    if device.type == "cuda":
        return _ahead(device, batches)
    return (tuple(tensor.to(device) for tensor in batch) for batch in batches)


class _Rows(Dataset[Answer]):
    """Examples as a data loader asks for them: a whole batch at a time."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples

    def __getitem__(self, indices: Tensor) -> Answer:
        try:
            return self.examples.take(indices)
        except NasError as error:
            return error.diagnostics


def _ignore_interrupts(_: int) -> None:
    """Ctrl-C reaches all processes, but what becomes of it is for the first one to say."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _unchanged(answer: Any) -> Any:
    return answer


def _by_workers(examples: Examples, wanted: Sequence[Tensor], workers: int, random: torch.Generator) -> Iterator[Batch]:
    loader: DataLoader[Answer] = DataLoader(
        _Rows(examples),
        sampler=wanted,
        batch_size=None,
        collate_fn=_unchanged,
        num_workers=workers,
        worker_init_fn=_ignore_interrupts,
        generator=random,  # else it would take a number from those that everyone draws from
    )
    # Begun in the main thread, it would answer SIGCHLD: when a worker is killed, by an error in the middle of whatever
    # is being computed. Begun in another, it tells whoever asks for the next batch.
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
        del answers  # which ends the workers
    raise NasError(problems)


def _next(answers: Iterator[Any]) -> Any:
    """The next answer; None if there are no more, and a diagnostic if a worker has ended and will give none."""
    try:
        return next(answers, None)
    except (RuntimeError, OSError, EOFError) as error:
        message = f"a process that reads examples has ended: {str(error).partition(chr(10))[0]}"
        help = "it may have run out of memory: use fewer workers, or none, which shows what goes wrong"
        return (Diagnostic("NAS505", message, help=help),)


def _ahead(device: torch.device, batches: Iterator[tuple[Tensor, ...]]) -> Iterator[tuple[Tensor, ...]]:
    """Copies from pinned memory, in a stream of their own, which no computation waits for before it must."""
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
            tensor.record_stream(computing)  # its memory is not given away before the last use of it there
        current, coming = coming, begin()
        yield current


def _pinned(tensor: Tensor) -> Tensor:
    return tensor if tensor.is_cuda or tensor.is_pinned() else tensor.pin_memory()
