"""Executes emitted source."""

from __future__ import annotations

import linecache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bayesnas_graph.codegen.emit.source import Emitted

if TYPE_CHECKING:
    from torch import nn


def build(emitted: Emitted) -> nn.Module:
    """The network of a source that `emit` wrote.

    Executing it is safe: `emit` wrote it, and only names of letters, digits and underscores come from a `.nas` file.
    """
    # Lets tracebacks, debuggers and torch.compile show the lines. The hash tells networks of one name apart.
    file = f"<network {emitted.network} {sha256(emitted.text.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (len(emitted.text), None, emitted.text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": f"<network {emitted.network}>"}
    exec(compile(emitted.text, file, "exec"), scope)
    for name in emitted.choices:
        scope[name].is_choice = True
    module: nn.Module = scope[emitted.network]()
    return module
