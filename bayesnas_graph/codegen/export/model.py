"""A network without choices as a model: Python source that needs only torch, and weights that fit it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.codegen.docs import NO_DOCS, Docs
from bayesnas_graph.codegen.emit import Emitted, as_state, build, build_for_weights, emit
from bayesnas_graph.codegen.emit.constants import Scaling
from bayesnas_graph.codegen.emit.memory import check_memory
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.export.describe import docs_of
from bayesnas_graph.codegen.export.weights import weights_file
from bayesnas_graph.diagnostics.outputs import write_outputs
from bayesnas_graph.ir import Graph, Shape
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.load import check_fixed, with_argument
from bayesnas_graph.language.json import fingerprint

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Model:
    """A program, and its weights if it has any."""

    graph: Graph
    program: Emitted
    weights: Mapping[str, Tensor] | None = None

    @staticmethod
    def of(
        graph: Graph, doc: str, tensors: ByNode | None = None, *, docs: Docs = NO_DOCS, scalings: Iterable[Scaling] = ()
    ) -> Model:
        """Emit a graph without choices, with the weights of its nodes if there are any."""
        program = emit(graph, doc, docs=docs, standalone=True, scalings=scalings)
        state = None if tensors is None else as_state(tensors, {}, program)
        # The tensors may be views of larger ones.
        return Model(graph, program, state and {name: value.clone() for name, value in state.items()})

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shape of a sample of each input."""
        return tuple(node.shape for node in self.graph if node.op.is_input)

    def build(self) -> nn.Module:
        """Build the network in evaluation mode, with its weights or with random ones. Raises NasError if too large."""
        check_memory(self.graph)
        if self.weights is None:
            return build(self.program).eval()
        module = build_for_weights(self.program).eval()
        module.load_state_dict(dict(self.weights))
        return module

    def with_weights(self, weights: Mapping[str, Tensor]) -> Model:
        """Return the same program with other weights."""
        return replace(self, weights=weights)

    def write(self, source: Path | None = None, weights: Path | None = None, *, force: bool = False) -> None:
        """Write the source, the weights as safetensors, or both. Raises NasError.

        An existing file is replaced only if it would stay the same, or with `force`.
        """
        outputs = [] if source is None else [(source, self.program.text.encode())]
        if weights is not None:
            assert self.weights is not None, "the caller has checked that there are weights"
            outputs.append((weights, weights_file(self.weights, fingerprint(self.graph))))
        write_outputs(outputs, force=force)


def model_of(network: Network, name: str, tensors: ByNode | None = None) -> Model:
    """Return a network without choices, of the space of this name, as a model. Raises NasError if it has choices."""
    check_fixed(network)
    graph = network.graph()
    doc = f"Network `{network.call_text}` of {name}.\n\nFingerprint: {fingerprint(graph)[:16]}.\n"
    return Model.of(graph, doc, tensors, docs=docs_of(network), scalings=_scalings(network))


def _scalings(network: Network) -> Iterator[Scaling]:
    """The parameters that the widths of a network may follow from."""
    if any(node.op.is_python for node in network.graph()):
        return  # their code runs for each value, and only it knows what depends on what
    for name, value in network.arguments:
        if type(value) is int and value > 0:
            others = {times * value: with_argument(network, name, times * value) for times in (2, 3)}
            graphs = {other: found.graph() for other, found in others.items() if found is not None}
            if len(graphs) == len(others):
                yield Scaling(name, value, graphs)
