"""Worker processes that fetch batches. Within `keep_workers` they live until its end, otherwise for one pass."""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from bayesnas_graph.data.model import Examples
from bayesnas_graph.diagnostics import Diagnostic, NasError

Batch = tuple[Tensor, Tensor]
Answer = Batch | tuple[Diagnostic, ...]  # diagnostics of an exception are lost between processes
Task = tuple[int, Tensor]  # a seed for user code, and the examples to fetch


class _Kept:
    """All workers that were started within `keep_workers`; None outside of it."""

    crews: list[_Crew] | None = None


@contextmanager
def keep_workers() -> Iterator[None]:
    """Keep worker processes from one pass over examples to the next within this block, and end them after it."""
    if _Kept.crews is not None:  # the outer block keeps them
        yield
        return
    _Kept.crews = []
    try:
        yield
    finally:
        crews, _Kept.crews = _Kept.crews, None
        for crew in crews:
            crew.end()


def fetch_by_workers(examples: Examples, tasks: Sequence[Task], workers: int) -> Iterator[Batch]:
    """Yield the examples of each task, in order."""
    crew = _free_crew(examples, workers, len(tasks))
    problems: tuple[Diagnostic, ...] = ()
    answers = crew.start(tasks)
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
        crew.is_busy = False
        if _Kept.crews is None or problems:
            crew.end()
    raise NasError(problems)


def _free_crew(examples: Examples, workers: int, tasks: int) -> _Crew:
    """Workers of these examples that have nothing to do, or new ones."""
    if _Kept.crews is None:
        return _Crew(examples, min(workers, tasks))
    for crew in _Kept.crews:
        if crew.examples is examples and crew.workers == workers and not crew.is_busy and not crew.has_ended:
            return crew
    _Kept.crews.append(_Crew(examples, workers))
    return _Kept.crews[-1]


class _Crew:
    """Some worker processes for one pass at a time."""

    def __init__(self, examples: Examples, workers: int) -> None:
        self.examples, self.workers = examples, workers
        self.is_busy = self.has_ended = False
        self._tasks: list[Task] = []
        self._loader: DataLoader[Answer] = DataLoader(
            _Rows(examples),
            sampler=self._tasks,
            batch_size=None,
            collate_fn=_unchanged,
            num_workers=workers,
            worker_init_fn=_ignore_interrupts,
            generator=torch.Generator(),  # otherwise the global generator is advanced
            persistent_workers=True,
        )

    def start(self, tasks: Sequence[Task]) -> Iterator[Any]:
        """Begin a pass. What is left of the pass before is discarded."""
        self.is_busy = True
        self._tasks[:] = tasks
        # Created in the main thread, it would handle SIGCHLD and raise in the middle of any computation when a worker
        # is killed. Created in another thread, the error is raised when the next batch is requested.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(iter, self._loader).result()

    def end(self) -> None:
        """End the processes, even in the middle of a pass."""
        running: Any = self._loader._iterator
        self._loader._iterator, self.has_ended = None, True
        if running is not None:
            running._shutdown_workers()


class _Rows(Dataset[Answer]):
    """Examples for a data loader that asks for a whole batch at a time."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples

    def __getitem__(self, task: Task) -> Answer:
        seed, indices = task
        _seed(seed)
        try:
            return self.examples.take(indices)
        except NasError as error:
            return error.diagnostics


def _seed(seed: int) -> None:
    """Seed everything that user code in a worker may draw from."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def _ignore_interrupts(_: int) -> None:
    """Ctrl-C reaches all processes, but only the main process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _unchanged(answer: Any) -> Any:
    return answer


def _next(answers: Iterator[Any]) -> Any:
    """The next answer: None at the end, a diagnostic if a worker died."""
    try:
        return next(answers, None)
    except (RuntimeError, OSError, EOFError) as error:
        message = f"a data worker process died: {str(error).partition(chr(10))[0]}"
        help = "it may have run out of memory: use fewer workers, or `-s workers=0` to see the error itself"
        return (Diagnostic("NAS505", message, help=help),)
