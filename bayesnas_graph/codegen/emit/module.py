"""Emitted source, executed."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from bayesnas_graph.codegen.emit.source import Emitted

if TYPE_CHECKING:
    from torch import nn


def build(emitted: Emitted) -> nn.Module:
    """The network of a source that `emit` wrote.

    What is executed is our own text: names in it are letters, digits and underscores, and nothing else of
    a `.nas` file gets into it.
    """
    name = f"<network {emitted.network}>"
    # So that a traceback, a debugger and torch.compile can show the lines.
    linecache.cache[name] = (len(emitted.text), None, emitted.text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": name}
    exec(compile(emitted.text, name, "exec"), scope)
    module: nn.Module = scope[emitted.network]()
    return module
