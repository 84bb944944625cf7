"""The whole state of a search in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.bayes import State
from bayesnas_graph.codegen.emit import build, transfer
from bayesnas_graph.passes import prune
from bayesnas_graph.runs.checkpoints import Checkpoints, Content, check_like
from bayesnas_graph.runs.device import Device, compiled_from_plain, compiled_to_plain, program_for
from bayesnas_graph.runs.strategies import strategy_info
from bayesnas_graph.runtime.precision import moved
from bayesnas_graph.search.finalists import best_of, finalist_graph
from bayesnas_graph.search.learner import SearchLearner, new_learner, take_weights
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress


class SearchCheckpoints(Checkpoints):
    """The checkpoints of a search."""

    def save(self, learner: SearchLearner, progress: SearchProgress) -> Path:
        """Write a checkpoint and remove old ones. Raises NasError if the disk is full; the others stay intact."""
        return self.write(progress.step, to_plain(learner, progress))

    def last(
        self,
        problem: Problem,
        device: Device,
        is_possible: Callable[[SearchProgress], bool] = lambda _: True,
        tell: Callable[[str], None] = lambda _: None,
    ) -> tuple[SearchLearner, SearchProgress] | None:
        """Return the newest good checkpoint, or None. Raises NasError if all are bad or belong to another space."""

        def restore(content: Content) -> tuple[SearchLearner, SearchProgress]:
            progress = SearchProgress.from_plain(content["progress"])
            if not is_possible(progress):
                raise ValueError("the progress of another run")
            return from_plain(content, problem, device)

        return self.last_good(device, restore, tell)


def to_plain(learner: SearchLearner, progress: SearchProgress) -> dict[str, Any]:
    """Return tensors, dictionaries, lists, strings and numbers, which can be loaded without running code.

    Random numbers are a function of the seed and the step, so no generator state is saved.
    """
    prior = learner.prior
    return {
        "progress": progress.to_plain(),
        **compiled_to_plain(learner.options),
        "weights": learner.supernet.module.state_dict(),
        "memory": learner.memory(),
        "scaler": learner.scaler.state_dict(),
        "prior": {"gamma": prior.gamma, "omega": prior.omega, "s": prior.s},
        "units": learner.units,
        "beliefs": learner.beliefs,
        "best": learner.best,
    }


def from_plain(content: dict[str, Any], problem: Problem, device: Device) -> tuple[SearchLearner, SearchProgress]:
    """Restore the learner and the progress from `to_plain`."""
    progress = SearchProgress.from_plain(content["progress"])
    if progress.trying is None:
        graph, config = prune(problem.graph, {verdict.name for verdict in progress.closed}), problem.config
    else:
        graph, config = finalist_graph(problem.graph, progress.trying), problem.of_finalists.config
    learner = new_learner(graph, config, device)
    weights, memory = content["weights"], content["memory"]
    best = content.get("best", {})  # as beliefs, absent in the oldest checkpoints
    compiled = compiled_from_plain(content)
    if compiled == learner.options:
        take_weights(learner, weights)
    else:  # on another device, with another number of processes, or by an older version
        program = program_for(graph, problem.config, compiled)
        memory = {kind: transfer(values, program, learner.supernet.program) for kind, values in memory.items()}
        take_weights(learner, weights, program)
    if best:
        smaller = finalist_graph(problem.graph, progress.finalists[best_of(progress.finalists)].off)
        before = program_for(smaller, problem.config, replace(compiled, apart=False))
        now = program_for(smaller, problem.config, device.options(smaller, problem.config))
        best = best if before == now else transfer(best, before, now)
        check_like(best, build(now).state_dict())
    learner.remember(memory)
    learner.scaler.load_state_dict(content["scaler"])
    fresh = learner.prior
    dtype = fresh.gamma.dtype
    units, numbers = _rounded({"units": content["units"]}, dtype), _rounded(content["prior"], dtype)
    check_like(numbers | units, {"gamma": fresh.gamma, "omega": fresh.omega, "s": fresh.s, "units": learner.units})
    none = torch.zeros(0, dtype=torch.long, device=device.torch_device)
    prior = State(**numbers, negative=none, infinite=none, undetermined=none)
    beliefs = _rounded(content.get("beliefs", {}), fresh.gamma.dtype)
    if strategy_info(config.strategy).draws:  # they are drawn from on the CPU
        beliefs = {name: moved(value.cpu(), "cpu") for name, value in beliefs.items()}
    if any(value.shape != fresh.gamma.shape or not value.is_floating_point() for value in beliefs.values()):
        raise ValueError("the beliefs of another search")
    return replace(learner.with_prior(prior, units["units"]), beliefs=beliefs, best=best), progress


def _rounded(tensors: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """Return numbers in the precision of this device: the run may come from a device with another one."""
    return {name: value.to(dtype) if value.is_floating_point() else value for name, value in tensors.items()}
