"""What is known about a search before its first step, in plain values: what it is shown by, here or from its folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import TYPE_CHECKING

from bayesnas_graph.ir import Edge, Gate, Graph
from bayesnas_graph.ir.names import shown_name
from bayesnas_graph.ir.ops import Choice, Gated, Zero

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from bayesnas_graph.runs.config import Config


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch as a reader of the space knows it."""

    name: str
    part: str  # the cell that it is in; elsewhere the motif, or the network
    choice: str  # the place that it stands at: `h[1] <- entry`
    operation: str  # what it lets through; `zero` is all of a choice


@dataclass(frozen=True)
class Outline:
    """What is searched, on what, for how long."""

    space: str
    network: str
    data: str
    device: str
    seed: int
    warmup: int  # steps
    steps: int  # of an iteration
    iterations: int  # at most; once the architecture is found, as many as it took
    finish: int  # steps in the end for the weights of what is left
    switches: tuple[Switch, ...]
    parameters: int  # of all candidates together
    flops: int
    wanted: tuple[str, ...]  # sizes that were asked for
    strategy: str = "bayes"

    def __post_init__(self) -> None:
        if self.warmup < 0 or self.steps < 1 or self.iterations < bool(self.switches) or self.finish < 0:
            raise ValueError("a search has steps and iterations")

    @property
    def total_steps(self) -> int:
        """Steps of the whole search, if nothing stops it earlier."""
        return self.warmup + self.iterations * self.steps + self.finish

    @property
    def subject(self) -> str:
        """What is searched, in a few words."""
        strategy = "" if self.strategy == "bayes" else f", strategy {self.strategy}"
        return f"network {self.network} of {self.space} on {self.data}, {self.device}, seed {self.seed}{strategy}"

    def phase(self, step: int) -> str:
        """What the step with this number, counted from 1, belongs to."""
        if self.warmup and step <= self.warmup:
            return "warm-up"
        iteration = max(1, ceil((step - self.warmup) / self.steps))
        return "finish" if iteration > self.iterations else f"iteration {iteration}/{self.iterations}"

    def to_json(self) -> bytes:
        """As it is written into the folder of a run."""
        return _adapter().dump_json(self)

    @staticmethod
    def from_json(text: bytes) -> Outline:
        """What `to_json` was given. Raises ValueError if it is none."""
        return _adapter().validate_json(text)


def targets(config: Config) -> list[str]:
    """The sizes that the settings ask for."""
    sizes = {"params": config.target_params, "flops": config.target_flops}
    return [at_most(quantity, size) for quantity, size in sizes.items() if size is not None]


def at_most(quantity: str, size: int) -> str:
    """A size that is asked for, as a `require` clause says it.

    >>> at_most("params", 20_000)
    'params <= 20,000'
    """
    return f"{quantity} <= {size:,}"


def switches_of(graph: Graph) -> Iterator[Switch]:
    """The switches of a graph, in its order, each once."""
    arrays = {array for node in graph for array in _arrays(node.name)}
    seen: set[str] = set()
    for edge in graph.edges:
        if edge.gate is not None and edge.gate.group not in seen:
            seen.add(edge.gate.group)
            yield _switch(graph, arrays, edge, edge.gate)


def _switch(graph: Graph, arrays: set[str], edge: Edge, gate: Gate) -> Switch:
    motif = next((scope for scope in graph.enclosing(edge.target) if scope.role != "choice"), None)
    around = motif.name if motif else ""
    cell, colon, path = gate.group.rpartition(":")
    part = cell if colon else motif.kind if motif else graph.name
    if not isinstance(graph[edge.target].op, Choice | Zero):  # an optional operation is a place by itself
        return Switch(gate.group, part, _place(graph, arrays, around, gate.name, path), "optional")
    choice, _, operation = gate.name.rpartition(".")
    return Switch(gate.group, part, _place(graph, arrays, around, choice, path.rpartition(".")[0]), operation)


def _place(graph: Graph, arrays: set[str], motif: str, name: str, path: str) -> str:
    """How a choice is shown: by the node it leads to, and by what it reads where the node has other inputs."""
    above, (target, _, source) = name.rpartition(".")[0], path.rpartition(".")
    if not target or above not in graph.nx or isinstance(graph[above].op, Choice):
        return shown_name(path) or "out"
    if isinstance(graph[above].op, Gated):  # what is chosen is optional
        return _place(graph, arrays, motif, above, target)
    array, _, number = source.rpartition("_")
    is_element = number.isdecimal() and f"{motif}.{array}".removeprefix(".") in arrays
    return f"{shown_name(target)} <- {f'{array}[{number}]' if is_element else source}"


def _arrays(name: str) -> Iterator[str]:
    """The arrays that a node is in: `a.h` for `a.h.0.conv`."""
    while name:
        name, _, last = name.rpartition(".")
        if last.isdecimal():
            yield name


@cache
def _adapter() -> TypeAdapter[Outline]:
    from pydantic import TypeAdapter

    return TypeAdapter(Outline)
