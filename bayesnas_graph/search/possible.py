"""Whether a search can have some progress: a checkpoint that was edited may hold any numbers and names."""

from __future__ import annotations

from bayesnas_graph.search.budget import LARGEST_GROWTH
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress


def is_possible(progress: SearchProgress, problem: Problem) -> bool:
    """Return whether the switches exist, and the step is not before the phase that the search is in."""
    if not switches_of(progress) <= problem.graph.switches.keys():
        return False
    if not (0 <= progress.iteration <= problem.config.iterations and 0 < progress.growth <= LARGEST_GROWTH):
        return False
    if not progress.ended:
        decided = progress.trying is not None or progress.finalists or (progress.iteration and not progress.measured)
        begun = problem.warmup + progress.iteration * problem.steps if progress.iteration else 0
        return not decided and progress.iteration < problem.config.iterations and begun <= progress.step
    if progress.trying is None:
        begun = progress.last_step - problem.finish
    else:
        begun = progress.decided_at + len(progress.finalists) * problem.finalist_steps
    in_turn = progress.trying is None or len(progress.finalists) < problem.finalists
    decided = progress.architecture is not None and progress.iteration >= bool(problem.graph.switches)
    return decided and in_turn and begun <= progress.step


def switches_of(progress: SearchProgress) -> set[str]:
    """Return the names of all switches that are mentioned."""
    verdicts = (*progress.closed, *(progress.architecture.verdicts if progress.architecture else ()))
    off = [name for finalist in progress.finalists for name in finalist.off]
    return {*(verdict.name for verdict in verdicts), *off, *(progress.trying or ())}
