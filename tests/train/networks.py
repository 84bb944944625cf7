"""A small network without choices, with a training run that takes a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from bayesnas_graph.runs.device import Place
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.train.checkpoint import Checkpoints
from bayesnas_graph.train.config import TrainConfig
from bayesnas_graph.train.course import Course
from bayesnas_graph.train.events import Row, Watcher
from bayesnas_graph.train.loop import Outcome, Training
from bayesnas_graph.train.progress import Progress
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


def course(text: str = FIXED, **settings: Any) -> Course:
    return Course.of(network(text), tiny_data(), config(**settings))


def place(config: TrainConfig) -> Place:
    return Place.of(config, torch.device("cpu"), Processes())


@dataclass
class Notes:
    """A watcher that records all events."""

    starts: list[Progress] = field(default_factory=list)
    losses: dict[int, float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def begun(self, course: Course, progress: Progress) -> None:
        self.starts.append(progress)

    def stepped(self, step: int, loss: float) -> None:
        self.losses[step] = loss

    def tested(self, row: Row) -> None:
        self.rows.append(row)

    def said(self, text: str) -> None:
        self.messages.append(text)


def training(
    course: Course, folder: Path, watcher: Watcher | None = None, stop: Callable[[], bool] = lambda: False
) -> Training:
    saved = Checkpoints(folder, course.config.keep)
    return Training(course, place(course.config), saved, watcher or Notes(), stop)


def trained(folder: Path, text: str = FIXED, watcher: Watcher | None = None, **settings: Any) -> Outcome:
    """The result of a training run."""
    return training(course(text, **settings), folder, watcher).run()
