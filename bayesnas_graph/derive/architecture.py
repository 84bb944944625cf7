"""An architecture with all that is known about it: where it comes from, why it is so, and how it is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision
from bayesnas_graph.derive.derived import Derived, derive, given, kept_groups
from bayesnas_graph.derive.explain import Line, explained
from bayesnas_graph.derive.rules import Rule
from bayesnas_graph.derive.runs import Searched, fixed_weights, read_run
from bayesnas_graph.derive.text import Written, strength_notes, written
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network, load_network
from bayesnas_graph.language.elaborate.load import Number
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.language.notations import read_architecture, write_architecture
from bayesnas_graph.passes.analysis import Cost, cost
from bayesnas_graph.runs.config import Config
from bayesnas_graph.runs.folder import RunFolder

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Architecture:
    """What a rule, or a string, leaves of a search space."""

    name: str  # of the space, as it was given
    network: Network
    space: Graph  # the network with all its switches
    derived: Derived
    rule: str  # how it came about, in words
    searched: Searched | None = None
    allow_python: bool = False

    @property
    def graph(self) -> Graph:
        """What is left, with the gates of the switches that are open."""
        return self.derived.graph

    @property
    def decision(self) -> Decision:
        """What was decided about every switch, and why."""
        return self.derived.decision

    @property
    def cost(self) -> Cost:
        """Its size."""
        return cost(self.graph)

    @property
    def measure(self) -> str:
        """What switches were judged by: gamma, or the strength that other strategies than the Bayesian one have."""
        is_other = self.searched is not None and self.searched.manifest.config.strategy != "bayes"
        return "strength" if is_other else "gamma"

    @property
    def lines(self) -> list[Line]:
        """What was kept and dropped on every line of the space."""
        return explained(self.space, self.decision)

    @property
    def string(self) -> str | None:
        """As DARTS or NAS-Bench-201 write it; None if the space has no such notation. Raises NasError if it cannot."""
        return write_architecture(kept_groups(self.derived), self.space)

    @cached_property
    def written(self) -> Written:
        """As a fixed network in the language."""
        fixed = passes.plain(self.graph)
        notes = strength_notes(self.graph, self.decision, fixed, self.measure) if self.searched else {}
        return written(fixed, self.doc, notes, allow_python=self.allow_python)

    def with_weights(self) -> tuple[Written, dict[str, dict[str, Tensor]]]:
        """The same with the weights of the search, for every node of what is written. Raises NasError without any.

        Where no weights could take up the value of a gate, the text has a `rescale` more.
        """
        if self.searched is None:
            message = "an architecture that was given has no weights"
            raise NasError([Diagnostic("NAS616", message, help="`bayesnas-graph train` finds some")])
        fixed = passes.rescale_gates(self.graph)
        notes = strength_notes(self.graph, self.decision, fixed.graph, self.measure)
        text = written(fixed.graph, self.doc, notes, allow_python=self.allow_python)
        tensors = fixed_weights(self.searched, self.derived, fixed)
        return text, {text.names[node]: found for node, found in tensors.items() if node in text.names}

    @property
    def doc(self) -> str:
        """A few lines on where it comes from."""
        arguments = ", ".join(f"{name} = {show(value)}" for name, value in self.network.arguments)
        network = f"{self.network.name}({arguments})" if arguments else self.network.name
        kept = sum(verdict.keep for verdict in self.decision.verdicts)
        lines = [
            f"Network `{network}` of {plain_text(self.name)}: {kept} of {len(self.decision.verdicts)} switches",
            f"were kept: {self.rule}.",
            "",
            f"{self.cost.parameters:,} weights, {self.cost.flops:,} multiply-adds.",
            f"Fingerprint of the space: {fingerprint(self.network.graph())[:16]}.",
        ]
        if self.searched is not None:
            config, versions = self.searched.manifest.config, self.searched.manifest.versions
            lines += [
                f"Searched on {plain_text(config.data or '')} with seed {config.seed}, {_way(config)}, by "
                f"bayesnas-graph {versions['bayesnas-graph']} and torch {versions['torch']}."
            ]
        return "\n".join(lines)

    def save(self, folder: Path) -> dict[str, Path]:
        """Write the text, the decision and where both come from into a folder, each file whole or not at all."""
        out = RunFolder(folder)
        paths = {name: folder / name for name in ("network.nas", "decision.json", "derived.json")}
        text = self.written.text  # made before anything is written
        about: dict[str, Any] = {
            "space": self.name,
            "network": self.network.name,
            "parameters": {name: show(value) for name, value in self.network.arguments},
            "rule": self.rule,
            "run": None if self.searched is None else str(self.searched.folder.path.absolute()),
            "fingerprint": fingerprint(self.written.graph),
            "weights": self.cost.parameters,
            "multiply_adds": self.cost.flops,
        }
        out.write(paths["network.nas"], text)
        out.write_json(paths["decision.json"], self.decision.to_plain())
        out.write_json(paths["derived.json"], about)
        return paths

    def __repr__(self) -> str:
        return f"<architecture of {self.name}: {self.cost.parameters:,} parameters, {self.cost.flops:,} multiply-adds>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        notebook = import_module("bayesnas_graph.report.notebook")  # by name: it stands above
        left, whole = self.cost, cost(self.space)
        kept = sum(verdict.keep for verdict in self.decision.verdicts)
        html: str = notebook.Card(
            title="Architecture",
            about=(f"Network {self.network.name} ({self.name}): {self.rule}.",),
            columns=("left", "all candidates"),
            rows=(
                ("parameters", f"{left.parameters:,}", f"{whole.parameters:,}"),
                ("multiply-adds", f"{left.flops:,}", f"{whole.flops:,}"),
                ("switches", f"{kept:,}", f"{len(self.decision.verdicts):,}"),
            ),
            picture=notebook.architecture_svg(self.network, self.graph),
        ).html()
        return html


def _way(config: Config) -> str:
    """How it was searched, in a few words."""
    return f"lambda {config.lambda_w:g}" if config.strategy == "bayes" else f"strategy {config.strategy}"


def plain_text(text: str) -> str:
    """A text from outside that may stand in a comment or a docstring of any language: letters, digits, a few marks."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " ._-:/,=+") else "?" for c in text)


def of_run(
    path: Path,
    rule: Rule | None = None,
    *,
    space: Path | None = None,
    network: str | None = None,
    parameters: Mapping[str, Number] | None = None,
    allow_python: bool = False,
) -> Architecture:
    """The architecture that a search has found, in the network that was searched or in another one. Raises NasError."""
    rule = rule or Rule()
    searched = read_run(path, space=space, network=network, parameters=parameters, allow_python=allow_python)
    graph = searched.graph
    derived = derive(graph, searched.decision, rule)
    name = searched.manifest.space if space is None else str(space)
    return Architecture(name, searched.network, graph, derived, _told(rule, searched), searched, allow_python)


def _told(rule: Rule, searched: Searched) -> str:
    """How an architecture came about, in words."""
    strategy = searched.manifest.config.strategy
    return f"as strategy {strategy} decided" if strategy != "bayes" and not rule.decides else str(rule)


def of_string(
    file: Path,
    string: str,
    *,
    network: str | None = None,
    parameters: Mapping[str, Number] | None = None,
    allow_python: bool = False,
) -> Architecture:
    """The architecture that a string of DARTS or NAS-Bench-201 describes, in a network of a space. Raises NasError."""
    loaded = load_network(file, network, parameters, allow_python=allow_python)
    graph = passes.run(loaded.network.graph(), passes.passes(fuse=False))
    derived = derive(graph, given(graph, read_architecture(string, graph)))
    return Architecture(str(file), loaded.network, graph, derived, "an architecture that was given", None, allow_python)
