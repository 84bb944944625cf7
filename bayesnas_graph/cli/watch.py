"""Displays of a search, and the simplest one: lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bayesnas_graph.cli.console import labelled, note, say, show_diagnostics
from bayesnas_graph.cli.standing import (
    Standing,
    able_text,
    closed_text,
    duration,
    pressure_text,
    shrink_text,
    step_time,
)

if TYPE_CHECKING:
    from bayesnas_graph.diagnostics import Diagnostic


class Display(Protocol):
    """Shows the state of a search. No method may fail because the terminal is gone."""

    def started(self, standing: Standing, warning: Diagnostic | None) -> None:
        """A search starts, or resumes."""

    def logged(self, standing: Standing) -> None:
        """Some steps were taken."""

    def updated(self, before: Standing, standing: Standing) -> None:
        """The switches were updated."""

    def concluded(self, standing: Standing, why: str) -> None:
        """The architecture is decided."""

    def noted(self, text: str) -> None:
        """Something unusual happened."""

    def closed(self) -> None:
        """No more steps follow."""


class Lines:
    """A header, then a line for some steps and for every update. Times come last, because they differ between runs."""

    def started(self, standing: Standing, warning: Diagnostic | None) -> None:
        for line in head(standing):
            say(line)
        if warning is not None:
            show_diagnostics([warning])

    def logged(self, standing: Standing) -> None:
        row, outline = standing.row, standing.outline
        assert row is not None, "it was logged"
        steps, longest = str(outline.total_steps), len(f"iteration {outline.iterations}/{outline.iterations}")
        say(
            f"step {row.step:>{len(steps)}}/{steps}  {standing.phase:<{longest}}  "
            f"loss {row.loss:<7.4g}  accuracy {row.accuracy:.3f}  penalty {row.penalty:<7.4g}  rate {row.rate:<8.3g}  "
            f"{step_time(row.seconds):>7}  left {duration(standing.left)}"
        )

    def updated(self, before: Standing, standing: Standing) -> None:
        outline = standing.outline
        switches, weights, flops = (f"{n:,}" for n in (len(outline.switches), outline.parameters, outline.flops))
        say(
            f"update {standing.iteration:>{len(str(outline.iterations))}}/{outline.iterations}  "
            f"held-out {standing.held_out:.3f}  switches {len(standing.alive):>{len(switches)},}/{switches}  "
            f"weights {standing.parameters:>{len(weights)},}  multiply-adds {standing.flops:>{len(flops)},}  "
            f"{pressure_text(standing)}"
            f"{closed_text(before, standing)}  {standing.update_seconds:.1f} s"
        )

    def concluded(self, standing: Standing, why: str) -> None:
        say(note(conclusion(standing, why)))

    def noted(self, text: str) -> None:
        say(note(text))

    def closed(self) -> None:
        pass


def head(standing: Standing) -> list[str]:
    """Return what is searched, on what, and for how long."""
    outline = standing.outline
    warmup = f"{outline.warmup:,} to warm up, then " if outline.warmup else ""
    finish = f", and {outline.finish:,} to finish" if outline.finish else ""
    rows = [
        ("search", outline.subject),
        ("steps", f"{warmup}{outline.iterations:,} iterations of {outline.steps:,}{finish}: {outline.total_steps:,}"),
        ("switches", f"{len(outline.switches):,}, zero switches included"),
        ("weights", f"{outline.parameters:,} with all candidates"),
        ("multiply-adds", f"{outline.flops:,} per sample with all candidates"),
        *(("wanted", text) for text in outline.wanted),
    ]
    if standing.shrink is not None:
        rows.append(("shrink", f"{shrink_text(standing.shrink)}, where 1 closes a gate{able_text(standing.shrink)}"))
    if standing.step:
        rows.append(("resumes", f"after step {standing.step:,}, with {len(standing.alive):,} switches open"))
    return [labelled(label, text) for label, text in rows]


def conclusion(standing: Standing, why: str) -> str:
    """Return why the architecture is decided, and what is left to do."""
    finish = standing.outline.finish
    return f"{why}; {finish:,} steps are left for its weights" if finish else why
