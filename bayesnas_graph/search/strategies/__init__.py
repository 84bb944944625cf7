"""Strategies by name: each is a file here, which defines `STRATEGY`, or a plug-in."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from bayesnas_graph.diagnostics.plugins import STRATEGY_PLUGINS, broken, find_plugin, load_plugin
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search.strategy import Strategy


def strategy_of(config: SearchConfig) -> Strategy:
    """Return the strategy that the settings name."""
    return _strategy(config.strategy)


@cache
def _strategy(name: str) -> Strategy:
    if name not in STRATEGIES and (plugin := find_plugin(STRATEGY_PLUGINS, name)) is not None:
        given = load_plugin(plugin)
        if not isinstance(given, Strategy):
            raise broken(plugin, f"`{plugin.target}` is not an instance of a subclass of `Strategy`")
        return given
    found = import_module(f"{__name__}.{name}").STRATEGY
    assert isinstance(found, Strategy), f"{name}.py defines a strategy"
    return found
