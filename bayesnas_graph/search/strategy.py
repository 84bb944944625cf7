"""The interface of strategies: rules for moving gates in every step, and for deciding about switches after some steps.

Everything else is common to all strategies: the supernet, the data, the steps of the weights, checkpoints, and how an
architecture is derived from a decision. Each strategy is a file in `strategies/`, with the name of the setting.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal

import torch
from torch import Tensor

from bayesnas_graph.bayes import Verdict
from bayesnas_graph.codegen.supernet import Opened
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Batch, Problem
from bayesnas_graph.search.progress import SearchProgress

Part = Literal["weights", "gates"]

SMALLEST = 1e-6  # score of a switch: a smaller one is not drawn for a finalist either


@dataclass(frozen=True, slots=True)
class Rates:
    """The learning rates of a step, and its number. Gates do not move while their rate is zero."""

    weights: float
    gates: float
    intensities: tuple[float, float]  # of the penalty on operations and on zero switches
    slowdown: float = 1.0  # factor on learning rates, after the loss has exploded
    step: int = 0
    passed: float = 0.0  # fraction of the search that is over
    settled: bool = False  # whether the architecture is final, and only its weights are trained


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """The gates of a step, as a function of the numbers that a strategy learns about the switches."""

    numbers: Tensor  # of every group; differentiable
    gates: Tensor  # of every gate
    opened: Opened | None = None  # what has to be computed; everything if it is not given


class Strategy(ABC):
    """A rule for moving gates and deciding about switches."""

    gates_on: ClassVar[Literal["train", "held_out"]] = "train"  # the samples that gates are trained on
    closes: ClassVar[bool] = False  # whether switches are closed for good during the search
    decides_early: ClassVar[bool] = False  # whether the search may end as soon as its architecture is small enough
    jumps: ClassVar[bool] = False  # whether closing switches changes the output of the network at once
    beliefs: ClassVar[frozenset[str]] = frozenset()  # names of beliefs that it cannot continue without

    def start(self, learner: SearchLearner, batch: Batch) -> SearchLearner:
        """Return a learner with gates and beliefs at their start values."""
        return learner

    def warmed_up(self, learner: SearchLearner, batches: Iterable[Batch]) -> SearchLearner:
        """Return the learner before the first step of its gates; the batches are held out."""
        return learner

    def draw(self, learner: SearchLearner, rates: Rates, part: Part) -> Draw | None:
        """Return the gates for a step of the weights or of the gates; None if the gates themselves are learnt."""
        return None

    @abstractmethod
    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        """Learn from the gradient of the loss with respect to the drawn gates."""

    def penalty(self, learner: SearchLearner, intensities: tuple[float, float]) -> float:
        """Return the penalty on the gates."""
        return 0.0

    @abstractmethod
    def iterate(
        self, problem: Problem, learner: SearchLearner, progress: SearchProgress, batches: Iterable[Batch]
    ) -> tuple[SearchLearner, SearchProgress, Iteration]:
        """Judge the switches on held-out batches, decide, and return the learner that is left."""

    def shrink_budgets(self, problem: Problem, learner: SearchLearner, progress: SearchProgress) -> Tensor | None:
        """Return how far a penalty can still move the gates of each switch; None if no penalty closes them."""
        return None

    def odds(self, config: SearchConfig, verdict: Verdict) -> float:
        """Return the logarithm of the odds of a switch, by which finalists are proposed: of its score by default."""
        return log(max(SMALLEST, verdict.score(config.ranking)))

    def conclude(self, learner: SearchLearner) -> None:
        """Set the gates of the final architecture before its weights are trained; all to 1 by default."""
        learner.supernet.set_gates(torch.ones_like(learner.supernet.gates))
