"""A run from its beginning to its results, or on from where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.language.json import to_json
from bayesnas_graph.runs.config import Config
from bayesnas_graph.runs.device import Place, machine_limits
from bayesnas_graph.runs.folder import Manifest, RunFolder, new_folder
from bayesnas_graph.runs.loading import check_company, loaded
from bayesnas_graph.runs.processes import Processes, told_to_all
from bayesnas_graph.runs.signals import stopping
from bayesnas_graph.runs.subject import Subject, origin_of
from bayesnas_graph.search.checkpoint import Checkpoints
from bayesnas_graph.search.events import Watcher, Watchers
from bayesnas_graph.search.loop import Outcome, Search
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.record import Recorder


@dataclass(frozen=True, eq=False)
class Task:
    """What is needed for a run, begun or not."""

    subject: Subject
    problem: Problem
    data_dir: Path
    folder: RunFolder

    @property
    def config(self) -> Config:
        """The settings."""
        return self.problem.config


def posed(subject: Subject, config: Config, data_dir: Path, processes: Processes) -> Problem:
    """What is to be searched, on data that are loaded. Raises NasError for all that can be known to be wrong."""
    data = loaded(subject, config, config.seed, data_dir, processes)
    problem = Problem.of(subject.network, data, config)
    check_company(problem.graph, config)
    if len(problem.indices[1]) < processes.world:
        message = f"of {len(problem.data.train)} samples {len(problem.indices[1])} are held out to measure on"
        raise NasError([Diagnostic("NAS601", message, help="set `held_out` to more")])
    return problem


def begun(subject: Subject, config: Config, data_dir: Path, output: Path | None, name: str, place: Place) -> Task:
    """A run in a new folder, which is named or called after the space; what it is has been written down."""
    problem = posed(subject, config, data_dir, place.processes)
    made = new_folder(output, name) if place.processes.first else None
    task = Task(subject, problem, data_dir, told_to_all(place.processes, made))
    if made is not None:
        write_down(task)
    return task


def write_down(task: Task) -> None:
    """Write what the run is into its new folder, before anything else is done."""
    origin = origin_of(task.subject, task.folder, task.data_dir)
    task.folder.write_manifest(Manifest(**origin, config=task.config))


def go(task: Task, place: Place, watchers: tuple[Watcher, ...]) -> Outcome:
    """Search, from the beginning or from the last checkpoint, and write the results. Raises Interrupted or NasError."""
    problem, folder = task.problem, task.folder
    checkpoints = Checkpoints(folder.checkpoints, task.config.keep, task.subject.fingerprint)
    watcher = Watchers((Recorder(folder), *watchers) if place.processes.first else ())
    with stopping(say=place.processes.first) as stop, machine_limits(task.config, place):
        outcome = Search(problem, place, checkpoints, watcher, stop).run()
    if place.processes.first:
        write_results(folder, problem, outcome)
    return outcome


def write_results(folder: RunFolder, problem: Problem, outcome: Outcome) -> None:
    """The decision, the architecture, and the outcome in numbers."""
    folder.write_json(folder.decision, outcome.decision.to_plain())
    folder.write(folder.architecture, to_json(outcome.graph))
    result = {
        "why": outcome.why,
        "parameters": outcome.cost.parameters,
        "flops": outcome.cost.flops,
        "accuracy": outcome.accuracy,
        "kept": sum(verdict.keep for verdict in outcome.decision.verdicts),
        "switches": len(outcome.decision.verdicts),
        "unmet": [str(budget) for budget in problem.unmet(outcome.cost)],
        "on_target": problem.on_target(outcome.graph),
    }
    folder.write_json(folder.result, result)
