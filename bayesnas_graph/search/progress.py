"""The progress of a search."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from bayesnas_graph.bayes import Decision, Verdict
from bayesnas_graph.runs.loop import Progress
from bayesnas_graph.search.finalists import Finalist


@dataclass(frozen=True)
class SearchProgress(Progress):
    """Everything that is not a tensor. Together with a learner it is the whole state of a search."""

    iteration: int = 0  # updates of the prior
    measured: bool = False  # whether the units of the gates were measured, at the end of warm-up
    closed: tuple[Verdict, ...] = ()  # switches closed for good, with their last verdicts
    unchanged: int = 0  # updates since the architecture last changed
    growth: float = 1.0  # factor on the intensity of the penalty, on the way to a target
    architecture: Decision | None = None  # about all switches, as of the last update
    ended: str = ""  # why the architecture is final; empty until then
    decided_at: int = 0  # once it has ended: the step of the last update
    finalists: tuple[Finalist, ...] = ()  # trained and measured so far
    trying: tuple[str, ...] | None = None  # the switches that are off in the finalist being trained
    last_step: int = 0  # once it has ended: the step until which the weights of the architecture are trained

    def with_closed(self, decision: Decision) -> SearchProgress:
        """Return the progress after an update, with its closed switches removed for good."""
        gone = tuple(verdict for verdict in decision.verdicts if not verdict.keep)
        # An architecture counts as unchanged only once a first switch has closed.
        settled = self.unchanged + 1 if self.closed and not gone else 0
        return replace(self, closed=(*self.closed, *gone), unchanged=settled)

    def concluded(self, finish: int) -> SearchProgress:
        """Return the progress once the architecture is final: everything else is closed."""
        assert self.architecture is not None, "a search ends after an update"
        gone = tuple(verdict for verdict in self.architecture.verdicts if not verdict.keep)
        return replace(self, closed=gone, last_step=self.step + finish)

    def to_plain(self) -> dict[str, Any]:
        """Return dictionaries, lists, strings and numbers."""
        architecture = None if self.architecture is None else self.architecture.to_plain()
        return vars(self) | {
            "closed": Decision(self.closed).to_plain()["verdicts"],
            "architecture": architecture,
            "finalists": [asdict(finalist) for finalist in self.finalists],
        }

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> SearchProgress:
        """Restore the progress from `to_plain`. Raises an error if it is anything else."""
        closed = Decision.from_plain({"verdicts": plain["closed"]}).verdicts
        architecture = None if plain["architecture"] is None else Decision.from_plain(plain["architecture"])
        finalists = tuple(Finalist.from_plain(finalist) for finalist in plain.get("finalists", ()))
        trying = None if plain.get("trying") is None else tuple(plain["trying"])
        read = {"closed": closed, "architecture": architecture, "finalists": finalists, "trying": trying}
        return _adapter().validate_python(plain | read)


@cache
def _adapter() -> TypeAdapter[SearchProgress]:
    return TypeAdapter(SearchProgress)
