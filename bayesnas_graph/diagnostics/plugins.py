"""Plug-ins: what installed packages add by entry points. They are listed without being run, and loaded when used."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bayesnas_graph.diagnostics.model import Diagnostic, NasError

STRATEGY_PLUGINS = "bayesnas_graph.strategies"  # groups of entry points
DATA_PLUGINS = "bayesnas_graph.data"
OP_PLUGINS = "bayesnas_graph.ops"


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed package."""

    group: str
    name: str
    target: str  # `package.module:object`
    package: str  # with its version

    def __str__(self) -> str:
        return f"`{self.name}` of {self.package}"


def installed_plugins(group: str) -> list[Plugin]:
    """Return the plug-ins of a group by name, without loading any."""
    return list(_found(group, tuple(sys.path)))


@lru_cache(maxsize=8)
def _found(group: str, _path: tuple[str, ...]) -> list[Plugin]:
    """The plug-ins of a group. Looking for them takes a while, so it is done once for every path of imports."""
    from importlib.metadata import entry_points  # most commands need no plug-ins

    found = {
        Plugin(group, entry.name, entry.value, f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?")
        for entry in entry_points(group=group)
    }
    return sorted(found, key=lambda plugin: (plugin.name, plugin.package))


def find_plugin(group: str, name: str) -> Plugin | None:
    """Return the plug-in of this name, or None. Raises NasError if several packages have it."""
    found = [plugin for plugin in installed_plugins(group) if plugin.name == name]
    if len(found) > 1:
        packages = " and ".join(plugin.package for plugin in found)
        help = "uninstall one of them"
        raise NasError([Diagnostic("NAS803", f"{packages} both have a plug-in `{name}`", help=help)])
    return found[0] if found else None


def load_plugin(plugin: Plugin) -> Any:
    """Import what a plug-in names: this runs code of its package. Raises NasError if it fails."""
    from importlib.metadata import EntryPoint

    try:
        return EntryPoint(plugin.name, plugin.target, plugin.group).load()
    except (Exception, SystemExit) as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        raise broken(plugin, f"`{plugin.target}` cannot be imported: {said}") from error


def broken(plugin: Plugin, what: str) -> NasError:
    """The error of a plug-in that cannot be used."""
    help = "update or uninstall the package, or report it to its authors"
    return NasError([Diagnostic("NAS803", f"the plug-in {plugin} is broken: {what}", help=help)])


def state_of(plugin: Plugin, known: Collection[str]) -> str:
    """Return what a list says about a plug-in: its package, and why it cannot be used if its name is taken."""
    if plugin.name in known:
        return f"from {plugin.package}, not usable: there is a built-in `{plugin.name}`"
    others = [
        other.package for other in installed_plugins(plugin.group) if other.name == plugin.name and other != plugin
    ]
    return f"from {plugin.package}" + (f", not usable: {others[0]} has it too" if others else "")
