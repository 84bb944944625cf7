"""The outline of a search, for its folder and its displays."""

from __future__ import annotations

from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.reading.outline import Outline, switches_of, targets
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress


def outline_of(space: str, problem: Problem, device: Device, progress: SearchProgress) -> Outline:
    """Return the outline of a search that is about to start or to resume."""
    config, whole = problem.config, cost(problem.graph)
    return Outline(
        space=space,
        network=problem.graph.name,
        data=config.data or "",
        device=str(device),
        seed=config.seed,
        warmup=problem.warmup,
        steps=problem.steps,
        iterations=progress.iteration if progress.ended else config.iterations,
        finalists=problem.finalists if progress.last_step == 0 else len(progress.finalists),
        finalist_steps=problem.finalist_steps,
        compared=problem.compared,
        finish=problem.finish,
        switches=tuple(switches_of(problem.graph)),
        parameters=whole.parameters,
        flops=whole.flops,
        flops_at_least=whole.flops_at_least,
        wanted=(*map(str, problem.budgets), *targets(config)),
        strategy=config.strategy,
    )
