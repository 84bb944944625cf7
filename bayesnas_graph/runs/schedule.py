"""Learning rates as a function of the step."""

from __future__ import annotations

from math import cos, pi

from bayesnas_graph.runs.config.groups import WeightSettings


def rate(config: WeightSettings, step: int, total: int) -> float:
    """Return the learning rate of the weights in one of `total` steps.

    >>> config = WeightSettings(rate=0.1, final_rate=0.0, rate_warmup=2)
    >>> [round(rate(config, step, 10), 3) for step in (0, 1, 2, 5, 9)]
    [0.05, 0.1, 0.1, 0.069, 0.004]
    """
    rising = min(1.0, (step + 1) / config.rate_warmup) if config.rate_warmup else 1.0
    passed = max(0, step - config.rate_warmup) / max(1, total - config.rate_warmup)
    return config.rate * rising * (config.final_rate + (1 - config.final_rate) * _left(config.schedule, passed))


def _left(schedule: str, passed: float) -> float:
    """Return the remaining fraction of the decay, from 1 to 0."""
    if schedule == "cosine":
        return (1 + cos(pi * passed)) / 2
    if schedule == "linear":
        return 1 - passed
    if schedule == "step":
        return 1.0 if passed < 1 / 2 else 0.1 if passed < 3 / 4 else 0.01  # the schedule of ResNets
    return 1.0
