"""A search as it is shown: who listens to it, and the plainest form, lines of text."""

from __future__ import annotations

from dataclasses import dataclass
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
from bayesnas_graph.search.outline import outline

if TYPE_CHECKING:
    from bayesnas_graph.diagnostics import Diagnostic
    from bayesnas_graph.runs.folder import RunFolder
    from bayesnas_graph.search.events import Row
    from bayesnas_graph.search.iteration import Iteration
    from bayesnas_graph.search.learner import Learner
    from bayesnas_graph.search.problem import Problem
    from bayesnas_graph.search.progress import Progress


class Display(Protocol):
    """A way to show how a search stands. None of it may fail because nobody looks."""

    def begun(self, standing: Standing, warning: Diagnostic | None) -> None:
        """A search begins, or goes on."""

    def logged(self, standing: Standing) -> None:
        """Some steps were taken."""

    def updated(self, before: Standing, standing: Standing) -> None:
        """The prior was updated."""

    def concluded(self, standing: Standing, why: str) -> None:
        """The architecture is found."""

    def said(self, text: str) -> None:
        """Something unusual happened."""


@dataclass
class Reporter:
    """A watcher that keeps how the search stands, hands it to a display, and leaves the outline in the folder."""

    folder: RunFolder
    space: str  # as it was named
    display: Display
    standing: Standing | None = None

    def begun(self, problem: Problem, learner: Learner, progress: Progress) -> None:
        from bayesnas_graph.passes import prune
        from bayesnas_graph.passes.analysis import cost
        from bayesnas_graph.search.budget import Shrink, shrink, too_weak

        found = outline(self.space, problem, learner.place, progress)
        self.folder.write(self.folder.outline, found.to_json().decode())
        budgets = shrink(problem, learner, progress) if problem.config.strategy == "bayes" else None
        begins = progress.step <= problem.warmup  # later, what is left is less than there was
        warning = too_weak(problem, learner, budgets) if begins and budgets is not None else None
        so_far = problem.graph if progress.architecture is None else prune(problem.graph, progress.architecture.off)
        intensity = problem.config.lambda_w * progress.growth
        reach = None if budgets is None else Shrink.of(budgets)
        self.standing = Standing.start(found, progress, cost(so_far), intensity, reach)
        self.display.begun(self.standing, warning)

    def logged(self, row: Row) -> None:
        assert self.standing is not None, "a search begins before it goes on"
        self.standing = self.standing.logged(row)
        self.display.logged(self.standing)

    def iterated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        assert self.standing is not None, "a search begins before it goes on"
        before, self.standing = self.standing, self.standing.updated(found, accuracy, seconds)
        self.display.updated(before, self.standing)

    def concluded(self, progress: Progress) -> None:
        assert self.standing is not None, "a search begins before it ends"
        self.standing = self.standing.concluded(progress)
        self.folder.write(self.folder.outline, self.standing.outline.to_json().decode())
        self.display.concluded(self.standing, progress.ended)

    def said(self, text: str) -> None:
        self.display.said(text)


class Lines:
    """A head, then a line for some steps and one for an update. Times stand last, for they differ from run to run."""

    def begun(self, standing: Standing, warning: Diagnostic | None) -> None:
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

    def said(self, text: str) -> None:
        say(note(text))


def head(standing: Standing) -> list[str]:
    """What is searched, on what, for how long."""
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
        rows.append(("goes on", f"after step {standing.step:,}, with {len(standing.alive):,} switches open"))
    return [labelled(label, text) for label, text in rows]


def conclusion(standing: Standing, why: str) -> str:
    """Why the architecture is found, and what is still to do."""
    finish = standing.outline.finish
    return f"{why}; {finish:,} steps are left for the weights of what was found" if finish else why
