"""The state of a search, as all displays show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics.wrapping import whole
from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.reading.outline import Outline

if TYPE_CHECKING:
    from bayesnas_graph.passes.analysis import Cost
    from bayesnas_graph.runs.reading.comparison import Comparison
    from bayesnas_graph.search.budget import Shrink
    from bayesnas_graph.search.events import StepRow
    from bayesnas_graph.search.finalists import Finalist
    from bayesnas_graph.search.iteration import Iteration
    from bayesnas_graph.search.progress import SearchProgress


@dataclass(frozen=True)
class SearchState:
    """The latest values; None where nothing was measured yet."""

    outline: Outline
    step: int
    iteration: int  # number of prior updates so far
    alive: frozenset[str]  # open switches
    parameters: int  # of the architecture so far
    flops: int
    intensity: float  # lambda, the penalty on operations
    shrink: Shrink | None = None  # None once gates no longer move, or if no penalty closes them
    row: StepRow | None = None
    held_out: float | None = None  # accuracy, or another metric, at the last update
    update_seconds: float = 0.0
    metric: Metric = ACCURACY

    @staticmethod
    def start(
        outline: Outline,
        progress: SearchProgress,
        size: Cost,
        intensity: float,
        shrink: Shrink | None,
        metric: Metric = ACCURACY,
    ) -> SearchState:
        """Return the state of a search that starts or resumes."""
        closed = {verdict.name for verdict in progress.closed}
        return SearchState(
            outline=outline,
            step=progress.step,
            iteration=progress.iteration,
            alive=frozenset(switch.name for switch in outline.switches if switch.name not in closed),
            parameters=size.parameters,
            flops=size.flops,
            intensity=intensity,
            shrink=None if progress.ended else shrink,
            metric=metric,
        )

    def logged(self, row: StepRow) -> SearchState:
        """Return the state after some steps."""
        return replace(self, step=row.step, row=row)

    def updated(self, iteration: Iteration, accuracy: float, seconds: float) -> SearchState:
        """Return the state after an update of the prior."""
        return replace(
            self,
            iteration=iteration.number,
            alive=frozenset(verdict.name for verdict in iteration.decision.verdicts if verdict.keep),
            parameters=iteration.cost.parameters,
            flops=iteration.cost.flops,
            intensity=iteration.intensities[0],
            shrink=iteration.shrink,
            held_out=accuracy,
            update_seconds=seconds,
        )

    def concluded(self, progress: SearchProgress) -> SearchState:
        """Return the state once the architecture is decided."""
        closed = {verdict.name for verdict in progress.closed}
        finalists = self.outline.finalists if progress.trying is not None else len(progress.finalists)
        outline = replace(self.outline, iterations=progress.iteration, finalists=finalists)
        return replace(self, outline=outline, alive=self.alive - closed, shrink=None)

    def selected(self, progress: SearchProgress, best: Finalist) -> SearchState:
        """Return the state once the best finalist is known, which may have switches that were closed before."""
        alive = frozenset(switch.name for switch in self.outline.switches) - set(best.off)
        return replace(self.concluded(progress), alive=alive, parameters=best.parameters, flops=best.flops)

    def comparing(self, comparison: Comparison) -> SearchState:
        """Return the state when architectures are about to be compared with the result."""
        return replace(self, outline=replace(self.outline, compared=len(comparison.networks)), shrink=None)

    def trial_logged(self, number: int, row: StepRow) -> SearchState:
        """Return the state after some steps with the architecture of this number, counted from 0."""
        step = self.outline.search_steps + number * self.outline.finalist_steps + row.step
        return self.logged(replace(row, step=step))

    @property
    def phase(self) -> str:
        """The name of the current phase."""
        return self.outline.phase(self.step)

    @property
    def left(self) -> float | None:
        """Estimated seconds to the end."""
        if self.row is None:
            return None
        steps, updates = self.outline.total_steps - self.step, self.outline.iterations - self.iteration
        return steps * self.row.seconds + updates * self.update_seconds


def closed_text(before: SearchState, after: SearchState, most: int = 3) -> str:
    """Return how many switches an update closed, with some names."""
    closed = [whole(switch.text) for switch in before.outline.switches if switch.name in before.alive - after.alive]
    more = f" and {len(closed) - most:,} more" if len(closed) > most else ""
    return f"closed {len(closed):,}: {', '.join(closed[:most])}{more}" if closed else "closed none"


def shrink_text(shrink: Shrink | None) -> str:
    """Return a range of shrink budgets.

    >>> from bayesnas_graph.search.budget import Shrink
    >>> shrink_text(Shrink(0.184, 0.32, able=0, open=30)), shrink_text(Shrink(0.5, 1e9, able=2, open=3))
    ('0.18 to 0.32', '0.50 to >99')
    """
    if shrink is None or not shrink.open:
        return "-"
    low, high = (f"{value:.2f}" if value < 99 else ">99" for value in (shrink.smallest, shrink.largest))
    return low if low == high else f"{low} to {high}"


def pressure_text(state: SearchState) -> str:
    """Return lambda and the shrink budgets, if a penalty closes the gates."""
    if state.shrink is None:
        return ""
    return f"lambda {state.intensity:.3g}  shrink {shrink_text(state.shrink)}  "


def able_text(shrink: Shrink) -> str:
    """Return how many switches the shrink budgets can close, unless it is all of them.

    >>> from bayesnas_graph.search.budget import Shrink
    >>> able_text(Shrink(0.2, 0.3, able=0, open=30)), able_text(Shrink(0.5, 2, able=2, open=3))
    (': not enough to close any', ': enough to close 2 of 3 switches')
    """
    if shrink.able == shrink.open:
        return ""
    return (
        f": enough to close {shrink.able:,} of {shrink.open:,} switches" if shrink.able else ": not enough to close any"
    )
