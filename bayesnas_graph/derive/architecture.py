"""An architecture: the kept switches, the reasons, and the resulting network as text and as a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.export import Model
from bayesnas_graph.codegen.export.describe import docs_of
from bayesnas_graph.derive.derived import Derived, derive, given, kept_groups
from bayesnas_graph.derive.explain import ExplainedLine, explained
from bayesnas_graph.derive.text import Written, strength_notes, written
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.checksums import digest, with_checksum
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.outputs import write_outputs
from bayesnas_graph.diagnostics.reading import read_file, read_json
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network, Text, load_network
from bayesnas_graph.language.elaborate.values import Argument, show
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.language.notations import read_architecture, write_architecture
from bayesnas_graph.passes.analysis import Cost, cost

LoadWeights = Callable[[Derived, passes.Rescaled], ByNode]  # the weights for a fixed network; raises NasError


@dataclass(frozen=True, eq=False)
class Origin:
    """The search that an architecture comes from."""

    run: Path
    provenance: str  # a line on how it was searched
    measure: str  # the number that switches were judged by: gamma or strength
    load_weights: LoadWeights


@dataclass(frozen=True, eq=False)
class Architecture:
    """A part of a search space, selected by a rule or a string."""

    name: str  # of the space, as the user named it
    network: Network
    space: Graph  # the network with all its switches
    derived: Derived
    rule: str  # how the switches were selected, in words
    origin: Origin | None = None
    allow_python: bool = False

    @property
    def graph(self) -> Graph:
        """The graph with the gates of kept switches."""
        return self.derived.graph

    @property
    def decision(self) -> Decision:
        """The decision about every switch, with reasons."""
        return self.derived.decision

    @property
    def cost(self) -> Cost:
        """The size of the network."""
        return cost(self.graph)

    @property
    def measure(self) -> str:
        """The number by which switches were judged."""
        return self.origin.measure if self.origin else "gamma"

    @property
    def lines(self) -> list[ExplainedLine]:
        """The kept and dropped switches on every line of the space."""
        return explained(self.space, self.decision)

    @property
    def string(self) -> str | None:
        """The DARTS or NAS-Bench-201 notation, or None. Raises NasError if the notation cannot express it."""
        return write_architecture(kept_groups(self.derived), self.space)

    @cached_property
    def written(self) -> Written:
        """The fixed network in the language."""
        return self._written(passes.plain(self.graph))

    def with_weights(self) -> tuple[Written, ByNode]:
        """Return the fixed network with the weights of the search for each of its nodes. Raises NasError without any.

        Where no weights can absorb the value of a gate, the text has an additional `rescale`.
        """
        if self.origin is None:
            message = "an architecture given as a string has no weights"
            raise NasError([Diagnostic("NAS616", message, help="train it with `bayesnas-graph train`")])
        fixed = passes.rescale_gates(self.graph)
        text = self._written(fixed.graph)
        tensors = self.origin.load_weights(self.derived, fixed)
        return text, {text.names[node]: node_tensors for node, node_tensors in tensors.items() if node in text.names}

    def model(self, *, weights: bool = False) -> Model:
        """Return the fixed network as a model, with the weights of the search if requested. Raises NasError."""
        if not weights:
            return Model.of(self.written.graph, f"{self.doc}\n", docs=docs_of(self.written.network))
        text, tensors = self.with_weights()
        return Model.of(text.graph, f"{self.doc}\n", tensors, docs=docs_of(text.network))

    def _written(self, fixed: Graph) -> Written:
        notes = strength_notes(self.graph, self.decision, fixed, self.measure) if self.origin else {}
        return written(fixed, self.doc, notes, docs=docs_of(self.network), allow_python=self.allow_python)

    @property
    def doc(self) -> str:
        """A few lines on the origin of the architecture."""
        kept = sum(verdict.keep for verdict in self.decision.verdicts)
        lines = [
            f"Network `{self.network.call_text}` of {self.name}: {kept} of {len(self.decision.verdicts)} switches",
            f"were kept: {self.rule}.",
            "",
            f"{self.cost.parameters:,} weights, {self.cost.flops_text} multiply-adds.",
            f"Fingerprint of the space: {fingerprint(self.network.graph())[:16]}.",
        ]
        return "\n".join([*lines, self.origin.provenance] if self.origin else lines)

    def save(self, folder: Path, *, force: bool = False) -> dict[str, Path]:
        """Write the text, the decision and their origin into a folder, each file completely or not at all.

        Existing files are replaced if an earlier call wrote them and nobody has changed them, or with `force`.
        Otherwise nothing is written. Raises NasError.
        """
        contents = {"network.nas": self.written.text.encode(), "decision.json": _json(self.decision.to_plain())}
        about: dict[str, Any] = {
            "space": self.name,
            "network": self.network.name,
            "parameters": {name: show(value) for name, value in self.network.arguments},
            "rule": self.rule,
            "run": str(self.origin.run.absolute()) if self.origin else None,
            "fingerprint": fingerprint(self.written.graph),
            "weights": self.cost.parameters,
            "multiply_adds": self.cost.flops,
            **({"multiply_adds_at_least": True} if self.cost.flops_at_least else {}),
            "files": {name: digest(content) for name, content in contents.items()},
        }
        contents["derived.json"] = _json(about)
        outputs = [(folder / name, content) for name, content in contents.items()]
        write_outputs(outputs, force=force, own=_unchanged(folder))
        return {name: folder / name for name in contents}

    def __repr__(self) -> str:
        return (
            f"<architecture of {self.name}: {self.cost.parameters:,} parameters, {self.cost.flops_text} multiply-adds>"
        )

    def _repr_html_(self) -> str:
        """The card that a notebook shows."""
        notebook = import_module("bayesnas_graph.report.notebook")  # by name: it is a higher layer
        own_cost, space_cost = self.cost, cost(self.space)
        kept = sum(verdict.keep for verdict in self.decision.verdicts)
        html: str = notebook.Card(
            title="Architecture",
            about=(f"Network {self.network.name} ({self.name}): {self.rule}.",),
            columns=("left", "all candidates"),
            rows=(
                ("parameters", f"{own_cost.parameters:,}", f"{space_cost.parameters:,}"),
                ("multiply-adds", own_cost.flops_text, space_cost.flops_text),
                ("switches", f"{kept:,}", f"{len(self.decision.verdicts):,}"),
            ),
            picture=notebook.architecture_svg(self.network, self.graph),
        ).html()
        return html


def _json(content: dict[str, Any]) -> bytes:
    return (json_text(with_checksum(content), ascii=False) + "\n").encode()


def _unchanged(folder: Path) -> set[Path]:
    """Return the files in a folder that are as an earlier `save` has left them."""
    found = set()
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):  # there is none
        for name, mark in read_json(folder / "derived.json")["files"].items():
            found.add(folder / "derived.json")
            if digest(read_file(folder / name)) == mark:
                found.add(folder / name)
    return found


def given_architecture(
    file: Path | Text,
    architecture: str | Sequence[str],
    *,
    network: str | None = None,
    parameters: Mapping[str, Argument] | None = None,
    allow_python: bool = False,
) -> Architecture:
    """Return the architecture that a text describes, or that keeps the switches of these names. Raises NasError."""
    loaded = load_network(file, network, parameters, allow_python=allow_python)
    graph = passes.run(loaded.network.graph(), passes.SWITCHES)
    derived = derive(graph, given(graph, read_architecture(architecture, graph)))
    return Architecture(str(file), loaded.network, graph, derived, "an architecture that was given", None, allow_python)
