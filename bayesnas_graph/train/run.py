"""A training run as a kind of run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from bayesnas_graph.codegen.export.weights import bytes_of, write_weights
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.augmentation import fitted
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.device import Device, check_deterministic
from bayesnas_graph.runs.loading import check_batch_norms, load_data
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.memory import check_step, check_training_memory
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.runs.task import RunKind, Task
from bayesnas_graph.train.checkpoint import TrainCheckpoints
from bayesnas_graph.train.events import TrainRecorder, TrainWatcher
from bayesnas_graph.train.loop import Training, TrainOutcome
from bayesnas_graph.train.problem import TrainingProblem

TrainTask = Task[TrainingProblem, TrainConfig]


class TrainRun(RunKind[TrainingProblem, TrainConfig, TrainWatcher, TrainOutcome]):
    """Trains a network without choices."""

    name: ClassVar[Kind] = "train"

    def build_problem(self, subject: Subject, config: TrainConfig, data_dir: Path, device: Device) -> TrainingProblem:
        check_training_memory(subject.network, config, device)
        data = load_data(subject, config, config.seed, data_dir, device.processes, self.given)
        config = fitted(config, data)
        problem = TrainingProblem.of(subject.network, data, config)
        check_batch_norms(problem.graph, config)
        check_step(subject.network, config, device)
        check_deterministic(problem.graph, config, device)
        return problem

    def recorder(self, task: TrainTask) -> TrainWatcher:
        return TrainRecorder(task.folder)

    def run(self, task: TrainTask, device: Device, watcher: TrainWatcher, stop: Callable[[], bool]) -> TrainOutcome:
        subject = task.subject
        checkpoints = TrainCheckpoints(task.folder.checkpoints, task.config.keep, subject.fingerprint)
        doc = (
            f"Network `{subject.network.call_text}`, without choices.\n\n"
            f"Fingerprint of the space: {subject.fingerprint[:16]}.\n"
        )
        device = device.for_run(task.config, task.folder)
        return Training(task.problem, device, checkpoints, watcher, stop, doc).run()

    def write_results(self, task: TrainTask, outcome: TrainOutcome) -> None:
        folder, size, metric = task.folder, cost(task.problem.graph), task.problem.objective.metric
        folder.write(folder.source, outcome.program.text)
        write_weights(folder.weights, outcome.weights, task.subject.fingerprint)
        result = {
            "epochs": task.config.epochs,
            metric.column: outcome.score.accuracy,
            "loss": outcome.score.loss,
            **task.problem.objective.more(outcome.score.loss),
            "parameters": size.parameters,
            "flops": size.flops,
            **({"flops_at_least": True} if size.flops_at_least else {}),
            "bytes": bytes_of(outcome.weights),
        }
        folder.write_json(folder.result, result)
