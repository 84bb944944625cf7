"""A network without choices as a model: Python source that needs torch alone, and weights that fit it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.codegen.emit import Emitted, as_state, build, emit
from bayesnas_graph.derive import Architecture
from bayesnas_graph.derive.architecture import plain_text
from bayesnas_graph.ir import Graph, Shape
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.train.course import check_fixed
from bayesnas_graph.train.weights import write_weights

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Model:
    """A program, and its weights if it has any."""

    graph: Graph
    program: Emitted
    weights: Mapping[str, Tensor] | None = None

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of a sample."""
        return tuple(node.shape for node in self.graph if isinstance(node.op, Input))

    def build(self) -> nn.Module:
        """The network, with its weights or with new ones, out of training."""
        module = build(self.program).eval()
        if self.weights is not None:
            module.load_state_dict(dict(self.weights))
        return module

    def with_weights(self, weights: Mapping[str, Tensor]) -> Model:
        """The same program with others."""
        return replace(self, weights=weights)

    def write_source(self, path: Path) -> None:
        """Write the source. Raises NasError if that cannot be done; the file is whole or as it was."""
        RunFolder(path.parent).write(path, self.program.text)

    def write_weights(self, path: Path) -> None:
        """Write the weights, as safetensors. Raises NasError likewise."""
        assert self.weights is not None, "who asks for weights has some"
        write_weights(path, self.weights, fingerprint(self.graph))


def model_of(architecture: Architecture, *, weights: bool = False) -> Model:
    """An architecture as a model; with the weights of the search if they are asked for. Raises NasError."""
    if not weights:
        graph = architecture.written.graph
        return Model(graph, emit(graph, f"{architecture.doc}\n", standalone=True, constants=True))
    text, tensors = architecture.with_weights()
    program = emit(text.graph, f"{architecture.doc}\n", standalone=True, constants=True)
    state = as_state(tensors, {}, program)
    return Model(text.graph, program, {name: value.clone() for name, value in state.items()})  # parts of wider ones


def model_of_network(network: Network, name: str) -> Model:
    """A network without choices as a model. Raises NasError if it has some."""
    check_fixed(network)
    graph = network.graph()
    arguments = ", ".join(f"{key} = {show(value)}" for key, value in network.arguments)
    called = f"{network.name}({arguments})" if arguments else network.name
    doc = f"Network `{called}` of {plain_text(name)}.\n\nFingerprint: {fingerprint(graph)[:16]}.\n"
    return Model(graph, emit(graph, doc, standalone=True, constants=True))
