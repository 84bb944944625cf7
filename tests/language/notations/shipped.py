"""Networks of the shipped spaces, compiled as for a search."""

from __future__ import annotations

from functools import cache

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from tests.conftest import ROOT

DARTS_V2 = (
    "Genotype(normal=[('sep_conv_3x3', 0), ('sep_conv_3x3', 1), ('sep_conv_3x3', 0), ('sep_conv_3x3', 1), "
    "('sep_conv_3x3', 1), ('skip_connect', 0), ('skip_connect', 0), ('dil_conv_3x3', 2)], "
    "normal_concat=range(2, 6), "
    "reduce=[('max_pool_3x3', 0), ('max_pool_3x3', 1), ('skip_connect', 2), ('max_pool_3x3', 1), "
    "('max_pool_3x3', 0), ('skip_connect', 2), ('skip_connect', 2), ('max_pool_3x3', 1)], "
    "reduce_concat=range(2, 6))"
)


@cache
def elaborated(space: str, network: str, **parameters: int) -> Graph:
    report = Report()
    checker = Checker(report)
    found = checker.path(ROOT / "spaces" / f"{space}.nas")
    assert found is not None
    chosen = checker.network(found.module, network, parameters)
    assert chosen is not None, report.diagnostics
    return chosen.graph()


@cache
def compiled(space: str, network: str = "search", **parameters: int) -> Graph:
    return passes.run(elaborated(space, network, **parameters), passes.SWITCHES)


def groups(graph: Graph) -> frozenset[str]:
    return frozenset(gate.group for gate in graph.gates)
