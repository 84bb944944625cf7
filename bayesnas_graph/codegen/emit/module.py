"""Executes emitted source."""

from __future__ import annotations

import linecache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bayesnas_graph.codegen.emit.memory import check_weights, weights_too_large
from bayesnas_graph.codegen.emit.source import Emitted
from bayesnas_graph.diagnostics.memory import is_out_of_memory

if TYPE_CHECKING:
    from torch import nn


def build(emitted: Emitted) -> nn.Module:
    """The network of a source that `emit` wrote. Raises NasError if its weights do not fit into memory.

    Executing it is safe: `emit` wrote it, and only names of letters, digits and underscores come from a `.nas` file.
    """
    # Lets tracebacks, debuggers and torch.compile show the lines. The hash tells networks of one name apart.
    file = f"<network {emitted.network} {sha256(emitted.text.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (len(emitted.text), None, emitted.text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": f"<network {emitted.network}>"}
    exec(compile(emitted.text, file, "exec"), scope)
    for name, role in emitted.roles.items():
        scope[name].role = role
    check_weights(emitted.network, emitted.parameters)
    try:
        module: nn.Module = scope[emitted.network]()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise weights_too_large(emitted.network, emitted.parameters) from None
    return module


def build_for_weights(emitted: Emitted) -> nn.Module:
    """The same for weights that are at hand: no random numbers of the process are used up."""
    import torch

    with torch.random.fork_rng(devices=[]):
        return build(emitted)
