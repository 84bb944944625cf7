"""How a search stands: what all displays show, each in its own way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from bayesnas_graph.runs.reading.outline import Outline

if TYPE_CHECKING:
    from bayesnas_graph.passes.analysis import Cost
    from bayesnas_graph.search.budget import Shrink
    from bayesnas_graph.search.events import StepRow
    from bayesnas_graph.search.iteration import Iteration
    from bayesnas_graph.search.progress import SearchProgress


@dataclass(frozen=True)
class Standing:
    """The latest of everything. What was not measured yet is None."""

    outline: Outline
    step: int
    iteration: int  # updates of the prior that were made
    alive: frozenset[str]  # switches that are open
    parameters: int  # of the architecture so far
    flops: int
    intensity: float  # of the penalty on operations: lambda
    shrink: Shrink | None = None  # None where gates no longer move, or are not closed by a penalty
    row: StepRow | None = None
    held_out: float | None = None  # accuracy, at the last update
    update_seconds: float = 0.0

    @staticmethod
    def start(
        outline: Outline, progress: SearchProgress, size: Cost, intensity: float, shrink: Shrink | None
    ) -> Standing:
        """That of a search that begins, or goes on."""
        closed = {verdict.name for verdict in progress.closed}
        return Standing(
            outline=outline,
            step=progress.step,
            iteration=progress.iteration,
            alive=frozenset(switch.name for switch in outline.switches if switch.name not in closed),
            parameters=size.parameters,
            flops=size.flops,
            intensity=intensity,
            shrink=None if progress.ended else shrink,
        )

    def logged(self, row: StepRow) -> Standing:
        """After some steps."""
        return replace(self, step=row.step, row=row)

    def updated(self, found: Iteration, accuracy: float, seconds: float) -> Standing:
        """After an update of the prior."""
        return replace(
            self,
            iteration=found.number,
            alive=frozenset(verdict.name for verdict in found.decision.verdicts if verdict.keep),
            parameters=found.cost.parameters,
            flops=found.cost.flops,
            intensity=found.intensities[0],
            shrink=found.shrink,
            held_out=accuracy,
            update_seconds=seconds,
        )

    def concluded(self, progress: SearchProgress) -> Standing:
        """Once the architecture is found."""
        closed = {verdict.name for verdict in progress.closed}
        outline = replace(self.outline, iterations=progress.iteration)
        return replace(self, outline=outline, alive=self.alive - closed, shrink=None)

    @property
    def phase(self) -> str:
        """Warm-up, which iteration, or what comes after them."""
        return self.outline.phase(self.step)

    @property
    def left(self) -> float | None:
        """Seconds to the end, if all goes on as it does."""
        if self.row is None:
            return None
        steps, updates = self.outline.total_steps - self.step, self.outline.iterations - self.iteration
        return steps * self.row.seconds + updates * self.update_seconds


def closed_text(before: Standing, after: Standing, most: int = 3) -> str:
    """What an update has closed: how many, and some names."""
    closed = [switch.text for switch in before.outline.switches if switch.name in before.alive - after.alive]
    more = f" and {len(closed) - most:,} more" if len(closed) > most else ""
    return f"closed {len(closed):,}: {', '.join(closed[:most])}{more}" if closed else "closed none"


def shrink_text(shrink: Shrink | None) -> str:
    """A range of shrink budgets.

    >>> from bayesnas_graph.search.budget import Shrink
    >>> shrink_text(Shrink(0.184, 0.32, able=0, open=30)), shrink_text(Shrink(0.5, 1e9, able=2, open=3))
    ('0.18 to 0.32', '0.50 to >99')
    """
    if shrink is None or not shrink.open:
        return "-"
    low, high = (f"{value:.2f}" if value < 99 else ">99" for value in (shrink.smallest, shrink.largest))
    return low if low == high else f"{low} to {high}"


def pressure_text(standing: Standing) -> str:
    """How hard the penalty presses on the gates, where it is what closes them."""
    if standing.shrink is None:
        return ""
    return f"lambda {standing.intensity:.3g}  shrink {shrink_text(standing.shrink)}  "


def able_text(shrink: Shrink) -> str:
    """What the shrink budgets are not enough for, to be said after them.

    >>> from bayesnas_graph.search.budget import Shrink
    >>> able_text(Shrink(0.2, 0.3, able=0, open=30)), able_text(Shrink(0.5, 2, able=2, open=3))
    (': not enough to close any', ': enough to close 2 of 3 switches')
    """
    if shrink.able == shrink.open:
        return ""
    return (
        f": enough to close {shrink.able:,} of {shrink.open:,} switches" if shrink.able else ": not enough to close any"
    )


def duration(seconds: float | None) -> str:
    """A time to a second.

    >>> duration(750), duration(90061), duration(None)
    ('0:12:30', '25:01:01', '-')
    """
    if seconds is None or not isfinite(seconds):
        return "-"
    minutes, rest = divmod(round(max(0, seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def step_time(seconds: float) -> str:
    """The time of a step.

    >>> step_time(0.0042), step_time(0.137), step_time(12.3)
    ('4.2 ms', '137 ms', '12.3 s')
    """
    if seconds < 0.01:
        return f"{1000 * seconds:.1f} ms"
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
