"""Operations of plug-ins. They come after everything that a file defines, so installing one never changes a space."""

from __future__ import annotations

from bayesnas_graph.diagnostics.plugins import OP_PLUGINS, Plugin, broken, find_plugin, installed_plugins, load_plugin
from bayesnas_graph.ir import Op
from bayesnas_graph.ir.ops.base import PRIMITIVES


def plugin_ops() -> list[Plugin]:
    """Return the operations of plug-ins that a file can use, without loading any."""
    return [plugin for plugin in installed_plugins(OP_PLUGINS) if plugin.name not in PRIMITIVES]


def is_plugin_op(name: str) -> bool:
    """Return whether a plug-in has an operation of this name."""
    return any(plugin.name == name for plugin in plugin_ops())


def plugin_op(name: str) -> type[Op] | None:
    """Load the operation of this name; None if there is none. Raises NasError if it cannot be used."""
    plugin = find_plugin(OP_PLUGINS, name) if is_plugin_op(name) else None
    if plugin is None:
        return None
    found = load_plugin(plugin)
    if not isinstance(found, type) or not issubclass(found, Op):
        raise broken(plugin, f"`{plugin.target}` is not a subclass of `Op`")
    if getattr(found, "name", None) != name:
        raise broken(plugin, f"`{plugin.target}` has another `name`")
    return found


def is_primitive(op: Op) -> bool:
    """Return whether an operation can be written in a file: as a primitive, or as that of a plug-in."""
    return type(op) in PRIMITIVES.values() or (is_plugin_op(op.name) and plugin_op(op.name) is type(op))
