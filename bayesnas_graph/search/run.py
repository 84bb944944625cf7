"""A search as a kind of run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.json import to_json
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device, check_deterministic
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.given import GivenData
from bayesnas_graph.runs.loading import check_batch_norms, load_data
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.memory import check_step, check_training_memory
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.runs.task import RunKind, Task
from bayesnas_graph.search.checkpoint import SearchCheckpoints
from bayesnas_graph.search.comparison import Comparing
from bayesnas_graph.search.events import SearchRecorder, SearchWatcher
from bayesnas_graph.search.loop import Search, SearchOutcome
from bayesnas_graph.search.problem import Problem

SearchTask = Task[Problem, SearchConfig]


class SearchRun(RunKind[Problem, SearchConfig, SearchWatcher, SearchOutcome]):
    """Searches a space."""

    name: ClassVar[Kind] = "search"

    def build_problem(self, subject: Subject, config: SearchConfig, data_dir: Path, device: Device) -> Problem:
        check_training_memory(subject.network, config, device)
        problem = build_problem(subject, config, data_dir, device.processes, self.given)
        check_step(subject.network, config, device)
        check_deterministic(problem.graph, config, device)
        return problem

    def recorder(self, task: SearchTask) -> SearchWatcher:
        return SearchRecorder(task.folder, task.subject.name)

    def run(self, task: SearchTask, device: Device, watcher: SearchWatcher, stop: Callable[[], bool]) -> SearchOutcome:
        checkpoints = SearchCheckpoints(task.folder.checkpoints, task.config.keep, task.subject.fingerprint)
        device = device.for_run(task.config, task.folder)
        outcome = Search(task.problem, device, checkpoints, watcher, stop).run()
        if not task.problem.compared:
            return outcome
        if device.processes.first:
            _write_found(task.folder, outcome)  # a comparison takes long, and a network can be derived before its end
            task.folder.result.unlink(missing_ok=True)  # marks a finished run
        comparing = Comparing(task.problem, device, task.folder, task.subject.fingerprint, watcher, stop)
        return replace(outcome, comparison=comparing.run(outcome.decision.off, outcome.steps))

    def write_results(self, task: SearchTask, outcome: SearchOutcome) -> None:
        _write_found(task.folder, outcome)
        task.folder.write_json(task.folder.result, result_of(task.problem, outcome))


def _write_found(folder: RunFolder, outcome: SearchOutcome) -> None:
    folder.write_json(folder.decision, outcome.decision.to_plain())
    folder.write(folder.architecture, to_json(outcome.graph))


def build_problem(
    subject: Subject, config: SearchConfig, data_dir: Path, processes: Processes, given: GivenData | None = None
) -> Problem:
    """Load the data and check everything that can be checked before the start. Raises NasError."""
    data = load_data(subject, config, config.seed, data_dir, processes, given)
    problem = Problem.of(subject.network, data, config)
    check_batch_norms(problem.graph, config)
    if len(problem.indices[1]) < processes.world:
        message = f"only {len(problem.indices[1])} of {len(problem.data.train)} samples are held out"
        raise NasError([Diagnostic("NAS601", message, help="increase `held_out`")])
    return problem


def result_of(problem: Problem, outcome: SearchOutcome) -> dict[str, Any]:
    """Return the outcome in a few numbers, as `result.json` has them."""
    return {
        "why": outcome.why,
        "parameters": outcome.cost.parameters,
        "flops": outcome.cost.flops,
        **({"flops_at_least": True} if outcome.cost.flops_at_least else {}),
        problem.objective.metric.column: outcome.accuracy,
        "kept": sum(verdict.keep for verdict in outcome.decision.verdicts),
        "switches": len(outcome.decision.verdicts),
        "unmet": [str(budget) for budget in problem.unmet(outcome.cost)],
        "on_target": problem.on_target(outcome.graph),
    }
