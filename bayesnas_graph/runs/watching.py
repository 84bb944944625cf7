"""The events of a run, and forwarding them to several watchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bayesnas_graph.diagnostics import Diagnostic

if TYPE_CHECKING:
    from bayesnas_graph.runs.device import Device
    from bayesnas_graph.runs.task import Task


class Watcher:
    """Base class of watchers, which are notified of events between steps. By default, every method does nothing."""

    def warned(self, diagnostics: Sequence[Diagnostic]) -> None:
        """There are warnings about the network or the files of the run."""

    def opened(self, task: Task[Any, Any], device: Device) -> None:
        """The run folder exists, and the run is about to start or to resume."""

    def started(self, problem: Any, learner: Any, progress: Any) -> None:
        """Training has started, resumed, or rolled back to a checkpoint."""

    def noted(self, text: str) -> None:
        """Something unusual happened."""

    def closed(self) -> None:
        """The last step was taken, because the run finished, was interrupted, or failed."""

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
    """Return a watcher that forwards every event to all of these."""
    return cast("W", _FanOut(watchers))
