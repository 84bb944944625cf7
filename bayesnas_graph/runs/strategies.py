"""The search strategies, as displays and reports describe them. Loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class StrategyInfo:
    """A description of a strategy, which `search/strategies/NAME.py` implements."""

    name: str
    measure: Literal["gamma", "strength"] = "strength"  # the number it judges switches by
    penalised: bool = False  # whether lambda has an effect
    draws: bool = False  # whether each step trains a network that is drawn: only that is computed
    # What to do about an architecture that is too large.
    advice: str = "search again with `--target-params` or `--target-flops`, or derive with `--budget`"

    @property
    def suffix(self) -> str:
        """A suffix for descriptions of runs: empty for the default strategy."""
        return "" if self.name == DEFAULT else f", strategy {self.name}"

    def describe(self, intensity: float) -> str:
        """Describe a search with this strategy in a few words."""
        return f"lambda {intensity:g}" if self.measure == "gamma" else f"strategy {self.name}"


DEFAULT = "bayes"
GROWING = "search again with more `--iterations`, or with a larger `--lambda`"
FITTING = "nothing more can be closed; `bayesnas-graph stats` shows the size of the smallest architecture"
STRATEGIES = {
    info.name: info
    for info in (
        StrategyInfo("bayes", measure="gamma", penalised=True, advice=FITTING),
        StrategyInfo("bayesnas", measure="gamma", penalised=True, advice=GROWING),
        StrategyInfo("darts"),
        StrategyInfo("dso", penalised=True, advice=GROWING),
        StrategyInfo("gdas", draws=True),
        StrategyInfo("magnitude"),
        StrategyInfo("proxyless", draws=True),
        StrategyInfo("random", draws=True),
        StrategyInfo("snas"),
    )
}


def strategy_info(name: object) -> StrategyInfo:
    """Return the description of a strategy; for an unknown one, from a newer version, only its name."""
    return STRATEGIES.get(str(name), StrategyInfo(str(name)))
