"""Strategies by name: each is a file here, which defines `STRATEGY`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.search.strategy import Strategy


def strategy_of(config: SearchConfig) -> Strategy:
    """Return the strategy that the settings name."""
    return _strategy(config.strategy)


@cache
def _strategy(name: str) -> Strategy:
    found = import_module(f"{__name__}.{name}").STRATEGY
    assert isinstance(found, Strategy), f"{name}.py defines a strategy"
    return found
