"""The interface of search displays, and the plain one: lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bayesnas_graph.cli.console import duration, labelled, note, say, short_time, show_diagnostics
from bayesnas_graph.cli.display.search_state import (
    SearchState,
    able_text,
    closed_text,
    pressure_text,
    shrink_text,
)
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.diagnostics.wrapping import whole

if TYPE_CHECKING:
    from bayesnas_graph.diagnostics import Diagnostic
    from bayesnas_graph.runs.reading.comparison import Comparison
    from bayesnas_graph.search.finalists import Finalist


class SearchDisplay(Protocol):
    """Shows the state of a search. No method may fail because the terminal was closed."""

    def started(self, state: SearchState, warning: Diagnostic | None) -> None:
        """A search starts, or resumes."""

    def logged(self, state: SearchState) -> None:
        """Some steps were taken."""

    def updated(self, before: SearchState, state: SearchState) -> None:
        """The switches were updated."""

    def concluded(self, state: SearchState, why: str) -> None:
        """The architecture is decided."""

    def compared(self, state: SearchState, finalist: Finalist, number: int) -> None:
        """A finalist was trained and measured."""

    def happened(self, state: SearchState, text: str) -> None:
        """Something usual happened that has no numbers of its own."""

    def noted(self, text: str) -> None:
        """Something unusual happened."""

    def closed(self) -> None:
        """No more steps follow."""


class SearchLines:
    """A header, then a line for some steps and for every update. Times come last, because they differ between runs."""

    def started(self, state: SearchState, warning: Diagnostic | None) -> None:
        for line in head(state):
            say(line)
        if warning is not None:
            show_diagnostics([warning])

    def logged(self, state: SearchState) -> None:
        row, outline = state.row, state.outline
        assert row is not None, "set by the log"
        steps, longest = str(outline.total_steps), len(f"iteration {outline.iterations}/{outline.iterations}")
        say(
            f"step {row.step:>{len(steps)}}/{steps}  {state.phase:<{longest}}  "
            f"loss {row.loss:<7.4g}  {state.metric.name} {row.accuracy:.3f}  "
            f"penalty {row.penalty:<7.4g}  rate {row.rate:<8.3g}  "
            f"{short_time(row.seconds):>7}  {whole(f'left {duration(state.left)}')}",
            2,
        )

    def updated(self, before: SearchState, state: SearchState) -> None:
        outline = state.outline
        switches, parameters, flops = (f"{n:,}" for n in (len(outline.switches), outline.parameters, outline.flops))
        say(
            f"update {state.iteration:>{len(str(outline.iterations))}}/{outline.iterations}  "
            f"held-out {state.held_out:.3f}  switches {len(state.alive):>{len(switches)},}/{switches}  "
            f"parameters {state.parameters:>{len(parameters)},}  multiply-adds {state.flops:>{len(flops)},}  "
            f"{pressure_text(state)}"
            f"{closed_text(before, state)}  {state.update_seconds:.1f} s",
            2,
        )

    def concluded(self, state: SearchState, why: str) -> None:
        say(note(conclusion(state, why)))

    def compared(self, state: SearchState, finalist: Finalist, number: int) -> None:
        say(compared_text(state, finalist, number), 2)

    def happened(self, _state: SearchState, text: str) -> None:
        say(text)

    def noted(self, text: str) -> None:
        say(note(text))

    def closed(self) -> None:
        pass


def update_text(before: SearchState, state: SearchState) -> str:
    """Return an update as a line for a display that shows everything else elsewhere."""
    outline = state.outline
    switches, parameters = f"{len(outline.switches):,}", f"{outline.parameters:,}"
    return (
        f"update {state.iteration:>{len(str(outline.iterations))}}/{outline.iterations}  "
        f"held-out {state.held_out:.3f}  switches {len(state.alive):>{len(switches)},}/{switches}  "
        f"parameters {state.parameters:>{len(parameters)},}  {closed_text(before, state)}"
    )


def head(state: SearchState) -> list[str]:
    """Return the header: the space, the data, and the length of the search."""
    outline = state.outline
    warmup = f"{outline.warmup:,} to warm up, " if outline.warmup else ""
    finalists = f", {outline.finalists:,} finalists of {outline.finalist_steps:,}" if outline.finalists else ""
    finish = f"{finalists}, {outline.finish:,} to finish" if outline.finish else finalists
    if outline.compared:
        finish += f", {outline.compared:,} architectures of {outline.finalist_steps:,} to compare"
    rows = [
        ("search", bold(outline.subject)),
        ("steps", f"{outline.total_steps:,}: {warmup}{outline.iterations:,} iterations of {outline.steps:,}{finish}"),
        ("switches", f"{len(outline.switches):,}, zero switches included"),
        ("parameters", f"{outline.parameters:,} with all candidates"),
        ("multiply-adds", f"{outline.flops_text} per sample with all candidates"),
        *(("target", text) for text in outline.wanted),
    ]
    if state.shrink is not None:
        rows.append(("shrink", f"{shrink_text(state.shrink)}, where 1 closes a gate{able_text(state.shrink)}"))
    if state.step:
        rows.append(("resumes", f"after step {state.step:,}, with {len(state.alive):,} switches open"))
    return [labelled(label, text) for label, text in rows]


def conclusion(state: SearchState, why: str) -> str:
    """Return why the architecture is decided, and the remaining steps."""
    outline = state.outline
    if outline.finalists and state.step <= outline.decided_at:
        return f"{why}; {outline.finalists:,} finalists are trained from scratch, {outline.finalist_steps:,} steps each"
    return f"{why}; {outline.finish:,} more steps train its weights" if outline.finish else why


def compared_text(state: SearchState, finalist: Finalist, number: int) -> str:
    """Return the results of a finalist."""
    return (
        f"finalist {number}/{state.outline.finalists}  held-out {finalist.accuracy:.3f}  loss {finalist.loss:.4f}  "
        f"parameters {finalist.parameters:,}  multiply-adds {finalist.flops:,}"
    )


def comparison_text(comparison: Comparison) -> str:
    """Return what is compared with the result."""
    others = counted(len(comparison.networks) - 1, "random architecture")
    left = f", {comparison.done:,} done" if comparison.done else ""
    each = f"{comparison.steps:,} steps each"
    return f"the result and {others} {comparison.kind} are trained from scratch, {each}{left}"


def trial_text(comparison: Comparison, number: int) -> str:
    """Return the results of an architecture that is compared."""
    network = comparison.networks[number]
    accuracy = "failed" if network.accuracy is None else f"test {network.accuracy:.3f}"
    return (
        f"compared {number + 1}/{len(comparison.networks)}  {'random' if number else 'found '}  {accuracy}  "
        f"parameters {network.parameters:,}  multiply-adds {network.flops:,}"
    )


def selection(state: SearchState, number: int) -> str:
    """Return which finalist is the best."""
    what = "the architecture of the last update" if number == 1 else "it replaces the architecture of the last update"
    best = f"finalist {number} of {state.outline.finalists} has the smallest held-out loss: {what}"
    return f"{best}; {state.outline.finish:,} more steps train its weights" if state.outline.finish else best
