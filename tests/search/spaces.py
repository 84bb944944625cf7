"""Small spaces and data, with searches that take a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import torch

from bayesnas_graph.data import Data, Statistics
from bayesnas_graph.data.shapes import draw_shapes
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.search.checkpoint import SearchCheckpoints
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.loop import Search, SearchOutcome
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress
from tests.helpers import network

# A cell with two choices, used twice. The candidates that both have are computed together, as long as both are there.
TINY = """
motif twice {
    in x
    x -> out : conv(k = 1) > bn > relu > conv(k = 1) > bn
}

cell block {
    in x
    node h
    x -> h : choose { twice, conv(), max_pool(3) }
    x -> h : choose { twice, identity }
    h -> out : bn > relu
}

network net(width = 4) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(width, stride = 2) > bn > block > block > global_avg_pool > linear(10)
}
"""

# The same without batch norms, which see all samples of a batch together.
PLAIN = TINY.replace(" > bn", "").replace("bn > ", "")

# A search of a second or two: it warms up, and finally closes most switches.
SHORT: dict[str, Any] = {
    "data": "tests.search.spaces:tiny_data",
    "batch": 20,
    "iterations": 3,
    "steps": 8,
    "warmup": 4,
    "rate": 0.05,
    "gate_rate": 0.8,
    "lambda": 0.5,
    "curvature_batches": 1,
    "log_steps": 2,
    "checkpoint_steps": 4,
    "threads": 1,
    "seed": 1,
}


@cache
def tiny_data() -> Data:
    """Images of ten shapes: 200 for training, 40 for testing."""
    train, test = (draw_shapes(count, (1, 8, 8), part, 0) for count, part in ((200, "train"), (40, "test")))
    return Data("tiny", train, test, (1, 8, 8), 10, Statistics((0.5,), (0.25,)))


def config(**settings: Any) -> SearchConfig:
    return SearchConfig.model_validate(SHORT | settings)


def problem(text: str = TINY, **settings: Any) -> Problem:
    return Problem.of(network(text), tiny_data(), config(**settings))


def device(config: SearchConfig, processes: Processes | None = None) -> Device:
    return Device.of(config, torch.device("cpu"), processes or Processes())


@dataclass
class Notes(SearchWatcher):
    """A watcher that remembers all it is told."""

    rows: list[StepRow] = field(default_factory=list)
    iterations: list[Iteration] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    starts: list[SearchProgress] = field(default_factory=list)
    ends: list[SearchProgress] = field(default_factory=list)

    def started(self, problem: Problem, learner: SearchLearner, progress: SearchProgress) -> None:
        self.starts.append(progress)

    def logged(self, row: StepRow) -> None:
        self.rows.append(row)

    def updated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        self.iterations.append(found)

    def concluded(self, progress: SearchProgress) -> None:
        self.ends.append(progress)

    def noted(self, text: str) -> None:
        self.messages.append(text)


def search(
    problem: Problem, folder: Path, watcher: SearchWatcher | None = None, stop: Callable[[], bool] = lambda: False
) -> Search:
    return Search(
        problem, device(problem.config), SearchCheckpoints(folder, problem.config.keep), watcher or Notes(), stop
    )


def asked_often(times: int) -> Callable[[], bool]:
    """A stop condition that becomes true after this many calls."""
    numbers = count()
    return lambda: next(numbers) >= times


def searched(folder: Path, text: str = TINY, watcher: SearchWatcher | None = None, **settings: Any) -> SearchOutcome:
    """What a search comes to."""
    return search(problem(text, **settings), folder, watcher).run()
