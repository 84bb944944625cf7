"""Whether a network fits into memory, before any of it is allocated."""

from __future__ import annotations

from math import prod

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.memory import available_memory, memory_text
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import cost

SIZE = 4  # bytes of a number
HELP = "make the network smaller, or use a machine with more memory"


def check_memory(graph: Graph, copies: int = 1, available: int | None = None) -> None:
    """Raise NasError if the weights of a graph do not fit into memory, or one of the values of a single sample.

    Training needs several numbers per weight: `copies`. The memory of this machine is used unless it is given.
    """
    check_weights(graph.name, cost(graph).parameters, copies, available)
    free = available_memory() if available is None else available
    largest = max(graph, key=lambda node: prod(node.shape))
    need = SIZE * prod(largest.shape)
    if free is not None and need > free:
        shape = "x".join(map(str, largest.shape))
        message = f"`{largest.name}` of network `{graph.name}` gives {shape} numbers for a single sample: "
        message += f"{memory_text(need)}, but {memory_text(free)} of memory are available"
        raise NasError([Diagnostic("NAS407", message, help=HELP)])


def check_weights(name: str, parameters: int, copies: int = 1, available: int | None = None) -> None:
    """Raise NasError if the weights of a network do not fit into memory."""
    free = available_memory() if available is None else available
    need = SIZE * parameters
    if free is None or need * copies <= free:
        return
    message = f"the weights of network `{name}` need {memory_text(need)}"
    if copies > 1:
        message += f", and training them {memory_text(need * copies)}"
    message += f", but {memory_text(free)} of memory are available"
    raise NasError([Diagnostic("NAS407", message, help=HELP)])


def weights_too_large(name: str, parameters: int) -> NasError:
    """The error if memory for the weights could not be allocated."""
    need = memory_text(SIZE * parameters)
    message = f"the weights of network `{name}` need {need}, which could not be allocated"
    return NasError([Diagnostic("NAS407", message, help=HELP)])
