"""Random programs with shared weights, and a network without sharing whose weights are tied by hand."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker

_STEPS = (
    "relu",
    "bn",
    "tanh",
    "conv(4)",
    "conv(4, 5, dilation = 2)",
    "depthwise(3)",
    "bn(affine = false)",
    "max_pool(3)",
)
_CANDIDATES = ("conv(4)", "conv(4, 5)", "conv(4) > bn", "relu", "max_pool(3)", "depthwise(3) > conv(4, 1)")
_USES = (
    "t",
    "t",
    "t > relu",
    "t * 2",
    "relu > t",
    "optional t",
    "choose 1 { t, conv(4) }",
    "choose { t, relu }",
    "m(t)",
)


class SharedProgram:
    """Generates a random space in which weights are shared, on images of 4 channels."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def text(self) -> str:
        body = [f"share t = {self._operation()}", f"share other = {self._operation()} > t"]
        names = ["p", "small"]
        lines = ["in x", "node p = x : conv(4, 1)", *body, "node small = p : avg_pool(2, 2) > t"]
        for i in range(self.random.randint(1, 3)):
            source = self.random.choice([name for name in names if name != "small"])
            use = self.random.choice((*_USES, "other", "other > t"))
            lines.append(f"node n{i} = {source} : {use}")
            names.append(f"n{i}")
        if self.random.random() < 0.5:
            lines.append("node r[i in 0..3] = p then r[i - 1] : t > bn")
            names.append("r[-1]")
        if self.random.random() < 0.5:
            lines.append("node c[2] = p : inner(4)")
            names.append("sum(c)")
        ends = " ".join(f"{name} -> out : global_avg_pool > head" for name in names)
        share = "share head = linear(3)"
        return f"{self._motifs()} network net : image(3, 8, 8) -> classes(3) {{ {' '.join([*lines, share])} {ends} }}"

    def _motifs(self) -> str:
        role = self.random.choice(("motif", "cell"))
        inner = f"share own = {self._operation()} x -> out : own > own x -> out : relu > own"
        return f"motif m(body) {{ in x x -> out : body x -> out : body > bn }} {role} inner(w) {{ in x {inner} }}"

    def _operation(self) -> str:
        steps = [self.random.choice(_STEPS) for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.5:
            some = self.random.sample(_CANDIDATES, 2)
            count = self.random.choice(("", "1 ", "exactly 1 "))
            steps.insert(self.random.randint(0, len(steps)), f"choose {count}{{ {', '.join(some)} }}")
        return " > ".join(["conv(4)", *steps] if self.random.random() < 0.5 else steps)


def graph_of(text: str) -> Graph:
    """The graph of the only network of a text."""
    report = Report()
    space = Checker(report).text(Source("shared.nas", text))
    assert not report.has_errors, (text, [str(problem) for problem in report.diagnostics])
    return space.networks[0].graph()


def shared_graphs() -> st.SearchStrategy[Graph]:
    """Graphs of random spaces with shared weights."""
    return st.randoms(use_true_random=False).map(lambda random: graph_of(SharedProgram(random).text()))


def without_sharing(graph: Graph) -> Graph:
    """The same graph, in which every node has weights of its own."""
    return graph.replace([replace(node, weights="") for node in graph], graph.edges, graph.outputs)


class Tied:
    """A network without sharing. Modules of equal weights are kept equal by hand: this does not rely on `Node.weights`
    being respected anywhere."""

    def __init__(self, graph: Graph, like: ReferenceNetwork) -> None:
        self.graph = graph
        self.network = ReferenceNetwork(without_sharing(graph)).double()
        with torch.no_grad():
            for node in graph:
                if (module := self.network.module(node.name)) is not None:
                    module.load_state_dict(_module(like, node.name).state_dict())
            for name, gate in self.network.gates.items():
                gate.copy_(like.gates[name])

    def gradients(self) -> dict[str, Tensor]:
        """The gradients of all weights; those of equal weights are added up."""
        found: dict[str, Tensor] = {}
        for node in self.graph:
            module = self.network.module(node.name)
            for name, value in module.named_parameters() if module is not None else ():
                key = f"{node.weights or node.name}.{name}"
                gradient = torch.zeros_like(value) if value.grad is None else value.grad
                found[key] = found[key] + gradient if key in found else gradient.clone()
        return found


def gradients(network: ReferenceNetwork) -> dict[str, Tensor]:
    """The gradients of all weights of a network that shares them."""
    found: dict[str, Tensor] = {}
    for node in network.graph:
        module = network.module(node.name)
        for name, value in module.named_parameters() if module is not None else ():
            gradient = torch.zeros_like(value) if value.grad is None else value.grad
            found[f"{node.weights or node.name}.{name}"] = gradient
    return found


def _module(network: ReferenceNetwork, node: str) -> nn.Module:
    module = network.module(node)
    assert module is not None
    return module
