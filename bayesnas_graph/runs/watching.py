"""Watching a run: events, and passing them on to several watchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bayesnas_graph.diagnostics import Diagnostic

if TYPE_CHECKING:
    from bayesnas_graph.runs.device import Device
    from bayesnas_graph.runs.task import Task


class Watcher:
    """Is told about a run, between steps. Every method does nothing by default."""

    def warned(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Something about the network deserves a warning."""

    def opened(self, task: Task[Any, Any], device: Device) -> None:
        """The run folder exists, and the run is about to start or to resume."""

    def started(self, problem: Any, learner: Any, progress: Any) -> None:
        """Training starts, resumes, or has gone back to a checkpoint."""

    def noted(self, text: str) -> None:
        """Something unusual happened."""

    def closed(self) -> None:
        """No more steps follow, for whatever reason."""

    def interrupted(self, task: Task[Any, Any], step: int) -> None:
        """The run was interrupted, and its state was saved."""

    def finished(self, task: Task[Any, Any], outcome: Any) -> None:
        """The run has finished, and its results have been written."""


W = TypeVar("W", bound=Watcher)


class _FanOut:
    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)

    def __getattr__(self, event: str) -> Callable[..., None]:
        def tell(*values: object) -> None:
            for watcher in self._watchers:
                getattr(watcher, event)(*values)

        return tell


def fan_out(watchers: Sequence[W]) -> W:
    """Return a watcher that passes every event on to all of these."""
    return cast("W", _FanOut(watchers))
