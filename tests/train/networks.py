"""A small network without choices, with a training run that takes a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.train.checkpoint import TrainCheckpoints
from bayesnas_graph.train.events import EpochRow, TrainWatcher
from bayesnas_graph.train.learner import TrainLearner
from bayesnas_graph.train.loop import Training, TrainOutcome
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.progress import TrainProgress
from tests.helpers import network
from tests.search.spaces import tiny_data

# With work that can be done once for two paths, a skip, and a place where the size is halved.
FIXED = """
motif residual {
    in x
    node h
    x -> h : relu > conv() > bn
    x -> h : relu > conv() > bn
    x -> h
    h -> out : relu
}

motif reduction(width) {
    in x
    node h
    x -> h : conv(width, 3, 2) > bn
    x -> h : max_pool(3, 2) > conv(width, 1)
    h -> out : relu
}

network net(width = 4) : image(1, 8, 8) -> classes(10) {
    in x
    node y = x : conv(width) > bn > residual > reduction(2 * width) > residual
    y -> out : global_avg_pool > linear(10)
}
"""

SHORT: dict[str, Any] = {
    "data": "tests.search.spaces:tiny_data",
    "batch": 20,
    "epochs": 3,
    "rate": 0.05,
    "crop": 1,
    "cutout": 3,
    "auxiliary": 0.4,
    "ema": 0.9,
    "log_steps": 2,
    "checkpoint_steps": 4,
    "threads": 1,
    "seed": 1,
}

STEPS = 10  # of an epoch


def config(**settings: Any) -> TrainConfig:
    return TrainConfig.model_validate(SHORT | settings)


def problem(text: str = FIXED, **settings: Any) -> TrainingProblem:
    return TrainingProblem.of(network(text), tiny_data(), config(**settings))


def device(config: TrainConfig) -> Device:
    return Device.of(config, torch.device("cpu"), Processes())


@dataclass
class Notes(TrainWatcher):
    """A watcher that remembers all it is told."""

    starts: list[TrainProgress] = field(default_factory=list)
    losses: dict[int, float] = field(default_factory=dict)
    rows: list[EpochRow] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def started(self, problem: TrainingProblem, learner: TrainLearner, progress: TrainProgress) -> None:
        self.starts.append(progress)

    def stepped(self, step: int, loss: float) -> None:
        self.losses[step] = loss

    def epoch_ended(self, row: EpochRow) -> None:
        self.rows.append(row)

    def noted(self, text: str) -> None:
        self.messages.append(text)


def training(
    problem: TrainingProblem,
    folder: Path,
    watcher: TrainWatcher | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Training:
    saved = TrainCheckpoints(folder, problem.config.keep)
    return Training(problem, device(problem.config), saved, watcher or Notes(), stop)


def trained(folder: Path, text: str = FIXED, watcher: TrainWatcher | None = None, **settings: Any) -> TrainOutcome:
    """What a training comes to."""
    return training(problem(text, **settings), folder, watcher).run()
