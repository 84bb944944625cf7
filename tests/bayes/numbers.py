"""Random numbers and graphs for the tests in this folder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import torch
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.ir import Edge, Gate, Graph, Node
from bayesnas_graph.ir.ops import Choice, Input
from tests.bayes.test_dependency import both_places
from tests.helpers import body, graph
from tests.passes.analysis.test_dependency import random_graphs

DTYPES = (torch.float32, torch.float64)
# As different as numbers can be and still be squared in neither precision but divided in both.
extreme = st.one_of(st.sampled_from([0.0, 1e-30, 1e30]), st.floats(2.0**-99, 2.0**99, width=32))
ordinary = st.floats(2.0**-10, 2.0**10, width=32)


@st.composite
def tensors(draw: st.DrawFn, numbers: st.SearchStrategy[float], count: int, dtype: torch.dtype) -> Tensor:
    return torch.tensor(draw(st.lists(numbers, min_size=count, max_size=count)), dtype=dtype)


def exact(values: Tensor) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


@st.composite
def grouped_graphs(draw: st.DrawFn) -> Graph:
    """Random graphs, with or without zero switches, in which some switches are shared."""
    made = draw(st.sampled_from(both_places(draw(random_graphs()))))
    names = list(dict.fromkeys(gate.name for gate in made.gates))
    shared = {name: f"g{draw(st.integers(0, 4))}" if draw(st.booleans()) else name for name in names}
    edges = [replace(e, gate=replace(e.gate, group=shared[e.gate.name])) if e.gate else e for e in made.edges]
    return made.replace(list(made), edges, made.outputs)


def lonely(count: int) -> Graph:
    """A choice among `count` candidates with no dependencies."""
    nodes = [Node("x", Input(), (3, 8, 8)), Node("y", Choice(), (3, 8, 8))]
    edges = [Edge("x", "y", i, Gate(f"y.{i}", f"y.{i}", "y", str(i))) for i in range(count)]
    return Graph("lonely", nodes, edges, ["y"])


def cell_used(times: int) -> Graph:
    """A cell with one choice of three candidates and a zero switch, used several times."""
    uses = " > ".join(["c"] * times)
    text = "cell c { in x x -> out : choose { relu, tanh, conv() } }" + body(f"x -> out : {uses}")
    return passes.insert_zero_identity(graph(text))
