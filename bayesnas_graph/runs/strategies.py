"""The search strategies, and what displays and reports need to know about each. Loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class StrategyInfo:
    """A strategy as others see it. `search/strategies/NAME.py` implements it."""

    name: str
    measure: Literal["gamma", "strength"] = "strength"  # the number that it judges switches by
    penalised: bool = False  # whether lambda has an effect

    @property
    def suffix(self) -> str:
        """What follows a description of a run: nothing for the default strategy."""
        return "" if self.name == DEFAULT else f", strategy {self.name}"

    def describe(self, intensity: float) -> str:
        """Return what is characteristic of a search with this strategy."""
        return f"lambda {intensity:g}" if self.measure == "gamma" else f"strategy {self.name}"


DEFAULT = "bayes"
STRATEGIES = {
    info.name: info
    for info in (
        StrategyInfo("bayes", measure="gamma", penalised=True),
        StrategyInfo("darts"),
        StrategyInfo("dso", penalised=True),
        StrategyInfo("gdas"),
        StrategyInfo("magnitude"),
        StrategyInfo("proxyless"),
        StrategyInfo("random"),
        StrategyInfo("snas"),
    )
}


def strategy_info(name: object) -> StrategyInfo:
    """Return what is known about a strategy. An unknown one, from a newer version, is described by its name alone."""
    return STRATEGIES.get(str(name), StrategyInfo(str(name)))
