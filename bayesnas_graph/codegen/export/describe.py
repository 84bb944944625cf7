"""Texts about networks, for headers of files."""

from __future__ import annotations

from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show


def network_text(network: Network) -> str:
    """Return a network as a call, such as `net(width = 8)`, or just its name."""
    arguments = ", ".join(f"{name} = {show(value)}" for name, value in network.arguments)
    return f"{network.name}({arguments})" if arguments else network.name
