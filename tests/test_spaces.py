"""The shipped spaces match their publications."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import Report, render
from bayesnas_graph.ir.ops import BatchNorm
from bayesnas_graph.language.elaborate import Checker, Space, load_network
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.passes import plain, prune
from bayesnas_graph.passes.analysis import extremes, switches, violated
from tests.conftest import ROOT, SPACES
from tests.helpers import body, codes, formatted, weights

EXPECTED = {
    "std",
    "darts",
    "darts_imagenet",
    "darts_v2",
    "tree_cell",
    "densenet",
    "nasbench101",
    "nasbench201",
    "nasnet",
    "hierarchical",
    "proxyless_mobile",
    "lenet300",
    "lenet5",
    "resnet18_cifar",
    "quickstart",
    "nats_size",
    "nasbench_macro",
    "once_for_all",
}


@cache
def load(name: str) -> Space:
    report = Report()
    space = Checker(report).path(ROOT / "spaces" / f"{name}.nas")
    assert space is not None
    assert not report.diagnostics, "\n".join(map(render, report.diagnostics))
    return space


def test_all_are_there() -> None:
    assert {path.stem for path in SPACES} == EXPECTED


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_clean(path: Path) -> None:
    load(path.stem)
    assert formatted(path.read_text()) == path.read_text()


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_documented(path: Path) -> None:
    space = load(path.stem)
    assert path.read_text().startswith("//!")
    if path.stem != "std":
        assert any(f" {year}" in space.doc for year in range(1990, 2027)), "the source is cited with its year"
    undocumented = [d.name.name for d in space.module.own.values() if not d.doc]
    assert not undocumented


@pytest.mark.parametrize(
    ("space", "network", "count"),
    [
        ("darts_v2", "darts_v2", 3_349_342),
        ("densenet", "densenet_bc_100_12", 769_162),
        ("resnet18_cifar", "resnet18", 11_173_962),
        ("lenet300", "lenet300", 266_610),
        ("lenet5", "lenet5", 431_080),
        ("nasbench201", "all_conv3x3", 1_531_546),
        ("nasbench201", "all_skip", 73_306),
        ("darts", "search", 1_930_618),
    ],
)
def test_published_parameter_counts(space: str, network: str, count: int) -> None:
    (found,) = (n for n in load(space).networks if n.name == network)
    assert weights(found.graph()) == count


@pytest.mark.parametrize(
    ("space", "network", "choices", "gates", "groups"),
    [
        ("darts", "search", 8 * 14, 8 * 14 * 7, 2 * 14 * 7),
        ("darts", "evaluation", 20 * 14, 20 * 14 * 7, 2 * 14 * 7),
        ("nasbench201", "search", 15 * 6, 15 * 6 * 4, 6 * 4),
        ("tree_cell", "search", 54 * 12, 54 * 12 * 8, 54 * 12 * 8),
        ("densenet", "search", 3 * 15, 45, 45),
        ("nasbench101", "search", 9 * 26, 9 * (21 + 5 * 3), 21 + 5 * 3),
        ("nasnet", "search", 8 * 25, 8 * (20 * 11 + 5), 2 * (20 * 11 + 5)),
    ],
)
def test_switches(space: str, network: str, choices: int, gates: int, groups: int) -> None:
    """Uses of a cell share switches; uses of a motif do not."""
    (found,) = (n for n in load(space).networks if n.name == network)
    graph = found.graph()
    assert found.block.choices == choices
    assert len(graph.gates) == gates
    assert len({gate.group for gate in graph.gates}) == groups


def test_nats_size_has_as_many_networks_as_published() -> None:
    graph = load("nats_size").networks[0].graph()
    assert switches(graph).settings == 8**5
    assert {gate.target for gate in graph.gates} == {f"w[{i}]" for i in range(5)}


def test_sizes_of_nats_size() -> None:
    """The network of the benchmark, with a convolution on the skips of its second and third cell."""
    graph = load("nats_size").networks[0].graph()
    for widths in ((8, 16, 24, 32, 40), (64, 8, 64, 8, 64), (64,) * 5):
        kept = {f"w[{i}]={width}" for i, width in enumerate(widths)}
        architecture = prune(graph, set(graph.switches) - kept)
        assert weights(plain(architecture)) == _nats_size(*widths)


def _nats_size(a: int, b: int, c: int, d: int, e: int) -> int:
    def conv(before: int, after: int, k: int = 3) -> int:
        return before * after * k * k + 2 * after

    def cell(before: int, after: int, skip: int) -> int:
        return 2 * conv(before, after) + 3 * conv(after, after) + skip

    def reduction(before: int, after: int) -> int:
        return conv(before, after) + conv(after, after) + before * after

    skips = (conv(b, c, 1), conv(d, e, 1))
    cells = cell(a, a, 0) + cell(b, c, skips[0]) + cell(d, e, skips[1])
    return conv(3, a) + cells + reduction(a, b) + reduction(c, d) + 2 * e + 10 * e + 10


def test_nasbench_macro_has_as_many_networks_as_published() -> None:
    graph = load("nasbench_macro").networks[0].graph()
    assert switches(graph).settings == 3**8
    sizes = extremes(graph).parameters
    assert (sizes.smallest.cost, sizes.largest.cost) == (387_882, 2_932_586)


def test_once_for_all_is_elastic() -> None:
    """In each of five stages 2 to 4 blocks, and in each of up to twenty blocks three kernels and three expansions."""
    graph = load("once_for_all").networks[0].graph()
    numbers = {(gate.number, gate.home) for gate in graph.gates}
    assert sorted(name for name, _ in numbers) == sorted(["more"] * 5 + ["kernel", "expand"] * 20)
    options = {name: {gate.label for gate in graph.gates if gate.number == name} for name, _ in numbers}
    assert options == {"more": {"1", "2", "3"}, "kernel": {"3", "5", "7"}, "expand": {"3", "4", "6"}}


def test_search_and_evaluation_have_the_same_switches() -> None:
    """The result of a search can be applied to the evaluation network."""
    for space in ("nasnet", "darts", "darts_imagenet"):
        groups = [{gate.group for gate in network.graph().gates} for network in load(space).networks]
        assert groups[0] == groups[1]
    assert {g.group for g in load("darts").networks[0].graph().gates} == groups[0]


def test_nasbench101_has_the_published_size_and_largest_architecture() -> None:
    """About 510 million cells before the limit on edges; the largest has five 3x3 convolutions and four projections."""
    (network,) = load("nasbench101").networks
    graph = network.graph()
    assert 2**21 * 3**5 == 509_607_936 == switches(graph).settings
    assert {str(constraint) for constraint in graph.constraints} == {"module: edges <= 9"}
    largest = extremes(graph).parameters.largest
    assert largest.cost == 49_979_274
    left = prune(graph, largest.off)
    assert violated(graph, largest.off) == []
    edges = {gate.group for gate in left.gates if gate.kind == "optional"}
    assert len(edges) == 9


def test_nasbench101_refuses_a_tenth_edge() -> None:
    graph = load("nasbench101").networks[0].graph()
    edges = [group for group, gate in graph.switches.items() if gate.kind == "optional"]
    first = {gate.choice: group for group, gate in reversed(graph.switches.items()) if gate.kind == "candidate"}
    off = frozenset(graph.switches.keys() - set(first.values()))
    for count in (9, 10):
        # The edges from the input to all vertices, and from those to the output: ten with one more.
        wanted = [group for group in edges if group.endswith((".x", "s.0"))][:5] + [
            group for group in edges if ":out.v_" in group
        ][: count - 5]
        assert len(wanted) == count
        assert len(violated(graph, off - set(wanted))) == (0 if count == 9 else 9), "once for every use of the cell"


def test_nasnet_reads_two_inputs_per_block() -> None:
    search = load("nasnet").networks[0]
    texts = {str(constraint) for constraint in search.graph().constraints}
    assert {f"reduction: inputs(h[{j}]) == 2" for j in range(1, 5)} <= texts
    assert "normal: not (edge(h[0], h[4]) and edge(h[0], joined))" in texts


def test_fixed_networks_have_no_choices() -> None:
    for name in ("lenet300", "lenet5", "resnet18_cifar", "darts_v2"):
        assert all(network.block.choices == 0 for network in load(name).networks)


def test_resnet18_in_any_width() -> None:
    graph = load_network(Path("resnet18_cifar"), parameters={"width": 4}).network.graph()
    assert {node.shape for node in graph if isinstance(node.op, BatchNorm)} == {
        (4, 32, 32),
        (8, 16, 16),
        (16, 8, 8),
        (32, 4, 4),
    }


def test_every_operation_of_the_library_can_be_used() -> None:
    for definition in load("std").module.own.values():
        assert isinstance(definition, ast.Motif)
        given = ", ".join("8" for p in definition.parameters if p.default is None)
        name = definition.name.name
        for stride in ("", ", stride = 2") if "stride" in {p.name.name for p in definition.parameters} else ("",):
            call = f"{name}({(given + stride).removeprefix(', ')})"
            text = body(f"x -> out : {call} > global_avg_pool", "image(8, 8, 8) -> classes(8)")
            assert codes('import "std.nas" ' + text) == [], call
