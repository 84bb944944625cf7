"""The settings of a search."""

from __future__ import annotations

from bayesnas_graph.runs.config.groups import (
    DataSettings,
    FusionSettings,
    Kept,
    LengthSettings,
    MachineSettings,
    PathSettings,
    PriorSettings,
    StrategySettings,
    TargetSettings,
    WeightSettings,
)

LATER = frozenset({"compare_random"})  # settings that a resumed search takes: they are about what follows it


class SearchConfig(
    Kept,
    FusionSettings,
    MachineSettings,
    TargetSettings,
    StrategySettings,
    PriorSettings,
    PathSettings,
    WeightSettings,
    LengthSettings,
    DataSettings,
):
    """All settings of a search. A settings file has these keys, and `-s key=value` sets one."""

    @property
    def intensities(self) -> tuple[float, float]:
        """Penalties on operations and on zero switches."""
        return self.lambda_w, self.lambda_w if self.lambda_zero is None else self.lambda_zero

    def grown(self, growth: float) -> tuple[float, float]:
        """Return the penalties multiplied by `growth`, on the way to a target size."""
        operation, zero = self.intensities
        return operation * growth, zero * growth
