"""After every pass, a graph read back from JSON is equal and emits the same source."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Graph, Op, ops
from bayesnas_graph.ir.ops import COMPILED, PRIMITIVES
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.json import compare, fingerprint, from_json, summary, to_json
from tests.conftest import LONG, ROOT, SPACES
from tests.helpers import body, graph, mostly_long
from tests.language.json.graphs import facts, generated, shipped

NAMES = [path.stem for path in SPACES if path.stem != "std"]
# Parameters that make a large space small. They leave every kind of operation in it.
SMALLER = {
    "auto_deeplab": {"width": 2, "layers": 2},
    "darts": {"width": 4, "cells": 2},
    "darts_imagenet": {"width": 4, "cells": 1},
    "darts_v2": {"width": 4, "cells": 3},
    "darts_rnn": {"width": 4, "nodes": 3, "size": 4},
    "nasbench101": {"width": 8, "cells": 1},
    "nasbench201": {"width": 4, "cells": 1},
    "nasnet": {"width": 4, "cells": 3},
    "proxyless_mobile": {"blocks": 1},
    "tree_cell": {"blocks": 1},
}
LARGE = ("auto_deeplab", "nasnet")  # even so: only before and after all passes
# This one has no such parameter, so a small network is made of its parts.
HIERARCHICAL = 'import "hierarchical.nas" ' + body("x -> out : assemble(3, {motif_1(3), motif_2(3)}, 3)")


def small(name: str) -> Graph:
    if name == "hierarchical":
        return graph(HIERARCHICAL)
    if name not in SMALLER:
        return shipped(name)
    checker = Checker(Report())
    space = checker.path(ROOT / "spaces" / f"{name}.nas")
    assert space is not None
    network = checker.network(space.module, space.module.networks[0].name.name, SMALLER[name])
    assert network is not None
    return network.graph()


def stages(graph: Graph) -> Iterator[Graph]:
    """A graph after each pass, for CPU and for GPU."""
    yield graph
    for step in passes.SWITCHES:
        graph = step(graph, passes.DEFAULT)
        yield graph
    plain = graph
    for device in ("cpu", "cuda"):
        graph = plain
        for step in passes.FASTER:
            graph = step(graph, passes.Options(device=device, batch=1))
            yield graph


def assert_survives(graph: Graph) -> None:
    again = from_json(to_json(graph), "again")
    assert again == graph
    assert again.name == graph.name
    assert facts(again) == facts(graph)
    assert emit(again) == emit(graph)  # the text, and where weights and gates are in it


@pytest.mark.parametrize("name", mostly_long(NAMES, "densenet", "nasbench201", "nats_size", "quickstart", "sequence"))
def test_shipped_spaces_survive(name: str) -> None:
    every = list(stages(small(name)))
    for stage in (every[0], every[-1]) if name in LARGE else every:
        assert_survives(stage)


@settings(max_examples=10 * LONG)
@given(generated())
def test_random_graphs_survive(original: Graph) -> None:
    for stage in stages(original):
        assert_survives(stage)


def test_zero_switches_before_the_candidates_survive() -> None:
    assert_survives(passes.run(small("quickstart"), passes.SWITCHES, passes.Options("before", "proxy")))


def test_every_operation_of_the_compiler_was_tried() -> None:
    found = {
        node.op.name for name in ("quickstart", "darts", "nats_size") for stage in stages(small(name)) for node in stage
    }
    shared = "let k = choose { 3, 5 } share a = conv(3, k) share b = depthwise(k) x -> out : optional relu > a > b"
    found |= {node.op.name for node in graph(body(shared))}
    assert found >= set(COMPILED)


def test_every_operation_can_be_read() -> None:
    """Every named class of `ops` is in one of the tables."""

    def below(cls: type[Op]) -> Iterator[type[Op]]:
        for subclass in cls.__subclasses__():
            yield subclass
            yield from below(subclass)

    named = {cls.name: cls for cls in below(Op) if hasattr(cls, "name") and cls.__module__.startswith(ops.__name__)}
    assert named == {**PRIMITIVES, **COMPILED, PythonOp.name: PythonOp}
    assert not PRIMITIVES.keys() & COMPILED.keys()


# ------------------------------------------------------------------- what scopes have no part in


@pytest.mark.parametrize("name", ["quickstart", "darts"])
def test_fingerprints_know_no_scopes(name: str) -> None:
    for stage in stages(small(name)):
        bare = Graph(stage.name, stage, stage.edges, stage.outputs)
        assert fingerprint(bare) == fingerprint(stage)
        assert compare(stage, bare).same


def test_stages_can_be_compared() -> None:
    first, *later = stages(small("quickstart"))
    for stage in later:
        difference = compare(first, stage)
        assert difference.same == (not summary(difference, first, stage))
        assert json.dumps(difference.as_json())
