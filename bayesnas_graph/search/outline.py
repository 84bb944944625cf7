"""The outline of a search, for its folder and its displays."""

from __future__ import annotations

from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Place
from bayesnas_graph.runs.reading.outline import Outline, switches_of, targets
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import Progress


def outline(space: str, problem: Problem, place: Place, progress: Progress) -> Outline:
    """The outline of a search that is about to begin or to go on."""
    config, whole = problem.config, cost(problem.graph)
    processes = f", {place.processes.world} processes" if place.processes.world > 1 else ""
    return Outline(
        space=space,
        network=problem.graph.name,
        data=config.data or "",
        device=f"{place.device}{processes}",
        seed=config.seed,
        warmup=problem.warmup,
        steps=problem.steps,
        iterations=progress.iteration if progress.ended else config.iterations,
        finish=problem.finish,
        switches=tuple(switches_of(problem.graph)),
        parameters=whole.parameters,
        flops=whole.flops,
        wanted=(*map(str, problem.budgets), *targets(config)),
        strategy=config.strategy,
    )
