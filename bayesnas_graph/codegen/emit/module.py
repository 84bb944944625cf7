"""Executes emitted source."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from bayesnas_graph.codegen.emit.source import Emitted

if TYPE_CHECKING:
    from torch import nn


def build(emitted: Emitted) -> nn.Module:
    """The network of a source that `emit` wrote.

    Executing it is safe: `emit` wrote it, and only names of letters, digits and underscores come from a `.nas` file.
    """
    name = f"<network {emitted.network}>"
    # Lets tracebacks, debuggers and torch.compile show the lines.
    linecache.cache[name] = (len(emitted.text), None, emitted.text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": name}
    exec(compile(emitted.text, name, "exec"), scope)
    module: nn.Module = scope[emitted.network]()
    return module
