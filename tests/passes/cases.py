"""Graphs for the tests of passes: shipped spaces, and golden cases.

A golden case is `golden/<pass>/<case>.nas`, a text that opens with a comment saying why it exists, and `<case>.out`,
the graph that the pass makes of it, with what its nodes stand for. A line `// with: key = value, ...` gives options.
`pytest --update-golden` rewrites the outputs; read the diff before committing it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes import SWITCHES, Options, run, verify
from tests.conftest import ROOT
from tests.equivalence import assert_same_function
from tests.helpers import graph

GOLDEN = Path(__file__).parent / "golden"
Settings = Mapping[str, str]

# Every kind of shipped space, in sizes that float64 can bear.
SIZES: dict[tuple[str, str], dict[str, int]] = {
    ("darts", "search"): {"width": 4, "cells": 3},
    ("nasbench201", "search"): {"width": 4, "cells": 1},
    ("hierarchical", "search"): {},  # see below
    ("tree_cell", "search"): {"blocks": 2, "alpha": 6},
    ("densenet", "search"): {"depth": 10, "growth": 4},
    ("quickstart", "digits"): {"width": 4},
    ("lenet5", "lenet5"): {},
}
# The shipped network with three nodes in its top motif, not five: all its operations, motifs and stages.
HIERARCHICAL = """
    import "std.nas"
    import "hierarchical.nas"
    cell small(width) { in x out assemble(3, motifs(width), width)(x) }
    network search(width = 2) : image(3, 32, 32) -> classes(10) {
        in x
        node a = x : conv_bn_relu(width, 3) > small(width)
        node b = a : separable_bn_relu(2 * width, 3, 2) > small(2 * width)
        node c = b : separable_bn_relu(4 * width, 3, 2) > small(4 * width)
        c -> out : separable_bn_relu(4 * width) > global_avg_pool > linear(10)
    }
"""


@cache
def small(space: str, network: str) -> Graph:
    """A network of a shipped space, in the size of `SIZES`, with all its switches."""
    return run(_small(space, network), SWITCHES)


def _small(space: str, network: str) -> Graph:
    if space == "hierarchical":
        return graph(HIERARCHICAL)
    checker = Checker(Report())
    found = checker.path(ROOT / "spaces" / f"{space}.nas")
    assert found is not None
    chosen = checker.network(found.module, network, dict(SIZES.get((space, network), {})))
    assert chosen is not None
    return chosen.graph()


@cache
def shipped(space: str, network: str) -> Graph:
    found = Checker(Report()).path(ROOT / "spaces" / f"{space}.nas")
    assert found is not None
    (chosen,) = (n for n in found.networks if n.name == network)
    return chosen.graph()


def golden(name: str) -> list[Path]:
    """The cases of a pass."""
    found = sorted((GOLDEN / name).glob("*.nas"))
    assert found, "every pass has a golden case"
    return found


def check_golden(case: Path, apply: Callable[[Graph, Settings], Graph], update: bool, *, same: bool = True) -> None:
    """Compare what a pass makes of a case with its output; with `same`, it must compute the same, and be idempotent."""
    text = case.read_text()
    assert text.startswith("//"), "say why the case exists"
    settings = _settings(text)
    before = graph(text)
    after = apply(before, settings)
    verify(after)
    if same:
        assert_same_function(before, after)
        assert apply(after, settings) == after, "done twice is done once"
    expected = case.with_suffix(".out")
    if update:
        expected.write_text(described(after))
    assert described(after) == expected.read_text()


def described(found: Graph) -> str:
    """A graph, and the elaborated nodes that each of its nodes does the work of, if those are others."""
    notes = [f"# %{node.name} is {node.op.name}\n" for node in found if node.op.name != node.op.label]
    for node in found:
        if node.replaces:
            notes.append(f"# %{node.name} computes {' | '.join(' = '.join(part) for part in node.replaces)}\n")
    return str(found) + "".join(notes)


def options(settings: Settings) -> Options:
    """The options of a case."""
    values = {name: int(value) if value.isdecimal() else value for name, value in settings.items()}
    return Options(**values)  # type: ignore[arg-type]


def _settings(text: str) -> dict[str, str]:
    lines = [line.removeprefix("// with:") for line in text.splitlines() if line.startswith("// with:")]
    pairs = [pair.split("=") for line in lines for pair in line.split(",")]
    return {name.strip(): value.strip() for name, value in pairs}
