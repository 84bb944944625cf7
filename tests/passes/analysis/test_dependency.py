"""The layout of dependencies: predecessors of a switch, and number of steps."""

from __future__ import annotations

from random import Random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.ir import Edge, Gate, Graph, Kind, Node, Op
from bayesnas_graph.ir.ops import Choice, Identity, Input, Maybe, Sum, Zero
from bayesnas_graph.ir.ops.join import Concat, Mean, Product
from bayesnas_graph.passes.analysis.dependency import Dependency, dependency
from tests.helpers import body, graph
from tests.passes.cases import shipped

Where = Literal["before", "after"]
SHAPE = (3, 8, 8)


# ------------------------------------------------------------------------------------------ graphs


def random_graph(random: Random, size: int = 12) -> Graph:
    """Operations in any order: nested choices, products of sums, switches without context."""
    nodes, edges = [Node("n0", Input(), SHAPE), Node("n1", Input(), SHAPE)], []
    for i in range(2, random.randint(2, size)):
        kinds: tuple[type[Op], ...] = (Sum, Mean, Concat, Product, Identity, Maybe, Choice, Choice)
        op = random.choice(kinds)()
        name = f"n{i}"
        for slot in range(random.randint(1, 4) if op.inputs is None else 1):
            source = nodes[random.randrange(max(0, i - 5), i)].name  # something near, so that there are long chains
            kind: Kind = "optional" if isinstance(op, Maybe) else "candidate"
            gate = Gate(id := f"{name}.{slot}", id, name, str(slot), kind) if isinstance(op, Choice | Maybe) else None
            edges.append(Edge(source, name, slot, gate))
        nodes.append(Node(name, op, SHAPE))
    return Graph("random", nodes, edges, [nodes[-1].name])


def random_graphs() -> st.SearchStrategy[Graph]:
    return st.randoms(use_true_random=False).map(random_graph)


def stack(layers: int, width: int, candidates: int, operations: int = 0) -> Graph:
    """Layers of choices, each reading the whole previous layer through a chain of plain operations."""
    nodes, edges = [Node("x", Input(), SHAPE)], []
    last = "x"
    for layer in range(layers):
        for i in range(operations):
            nodes.append(Node(f"{layer}.plain{i}", Identity(), SHAPE))
            edges.append(Edge(last, nodes[-1].name, 0))
            last = nodes[-1].name
        choices = [f"{layer}.{i}" for i in range(width)]
        for choice in choices:
            nodes.append(Node(choice, Choice(), SHAPE))
            gates = [Gate(f"{choice}.{slot}", f"{choice}.{slot}", choice, str(slot)) for slot in range(candidates)]
            edges += [Edge(last, choice, slot, gate) for slot, gate in enumerate(gates)]
        last = f"{layer}"
        nodes.append(Node(last, Sum(), SHAPE))
        edges += [Edge(choice, last, slot) for slot, choice in enumerate(choices)]
    return Graph("stack", nodes, edges, [last])


def next_before(found: Dependency) -> dict[str, set[str]]:
    """The switches in the sums that each switch reads; other terms are given by their number."""

    def name(term: int) -> str:
        return found.gates[term].name if term < len(found.gates) else f"all{term - len(found.gates)}"

    sums: dict[int, set[str]] = {}
    read: dict[str, set[str]] = {name(term): set() for term in range(found.terms)}
    for level in found.levels:
        for term, number in zip(level.terms, level.sums, strict=True):
            sums.setdefault(number, set()).add(name(term))
        for number, reader in zip(level.reads, level.readers, strict=True):
            read[name(reader)] |= sums[number]
    return read


def entries(found: Dependency) -> int:
    """The total number of entries of all levels."""
    return sum(len(level.terms) + len(level.reads) for level in found.levels)


# -------------------------------------------------------------------------------------- what is said


def test_what_the_inputs_reach_depends_on_nothing() -> None:
    found = dependency(graph(body("node y = x : relu > choose { relu, tanh } y -> out x -> out")))
    assert found.levels == ()
    assert [gate.name for gate in found.gates] == ["y.choice.relu", "y.choice.tanh"]
    assert all(span is not None and "choose" in span.source.text[span.start - 20 :] for span in found.spans)


def test_an_unconditional_skip_removes_dependencies() -> None:
    found = dependency(graph(body("node y = x : choose { relu } node z y -> z x -> z z -> out : choose { tanh }")))
    assert found.levels == ()


def test_plain_operations_are_not_seen() -> None:
    text = "node y = x : choose { relu, tanh } > bn > relu > conv(3) y -> out : bn > choose { tanh }"
    found = dependency(graph(body(text)))
    (last,) = (gate.name for gate in found.gates if gate.name.startswith("choice"))
    assert next_before(found)[last] == {"y.choice.relu", "y.choice.tanh"}
    assert len(found.levels) == 1


def test_a_value_read_twice_counts_once() -> None:
    """With any number of branches, skips and joins, the value passes through unchanged."""
    block = "motif block { in a node b = a : relu node c = sum(a, b) node d = product(c, a) out mean(d, b, a) }"
    found = dependency(graph(block + body("x -> out : optional relu > block > block > block > optional tanh")))
    assert found.terms == 2
    assert [(level.terms, level.readers) for level in found.levels] == [((0,), (1,))]


def test_products_need_all_and_sums_need_any() -> None:
    text = "node a = x : optional relu node b = x : optional tanh node c = x : optional gelu "
    product = dependency(graph(body(text + "product(product(sum(a, b), c), c) -> out : optional bn")))
    assert next_before(product) == {"a": set(), "b": set(), "c": set(), "all0": {"a", "b", "c"}, "optional": {"all0"}}
    total = dependency(graph(body(text + "sum(sum(a, b), c, b) -> out : optional bn")))
    assert next_before(total)["optional"] == {"a", "b", "c"}


@pytest.mark.parametrize("where", ["before", "after"])
def test_zero_switches_are_known(where: Where) -> None:
    found = dependency(passes.insert_zero_identity(shipped("quickstart", "digits"), passes.Options(zero=where)))
    zeros = [gate.name for gate, is_zero in zip(found.gates, found.is_zero, strict=True) if is_zero]
    assert len(zeros) == 18
    assert all(name.endswith(".zero") for name in zeros)


def test_candidates_are_inside_the_zero_switch_behind_them() -> None:
    text = "x -> out : choose { choose { gelu, swish } > bn, optional relu > tanh } > choose { relu }"
    found = dependency(passes.insert_zero_identity(graph(body(text)), passes.Options(zero="after")))
    inside: dict[str, set[str]] = {gate.name: set() for gate in found.gates}
    for inner, outer in zip(found.inside, found.outside, strict=True):
        inside[found.gates[inner].name].add(found.gates[outer].name)
    assert inside == {
        "choice.chain.choice.gelu": {"choice.zero", "choice.chain.choice.zero"},
        "choice.chain.choice.swish": {"choice.zero", "choice.chain.choice.zero"},
        "choice.chain.choice.zero": {"choice.zero"},
        "choice.chain": {"choice.zero"},
        "choice.chain_2.optional": {"choice.zero"},
        "choice.chain_2": {"choice.zero"},
        "choice.zero": set(),
        "choice_2.relu": {"choice_2.zero"},
        "choice_2.zero": set(),
    }


def test_names_alone_put_nothing_inside_a_choice() -> None:
    """The second edge from `x` to `y` has a choice `y.x_2.choice`, which is not part of the choice `y.x`."""
    text = "node y x -> y : choose { relu } x -> y : tanh > choose { bn } y -> out"
    found = dependency(passes.insert_zero_identity(graph(body(text)), passes.Options(zero="after")))
    pairs = zip(found.inside, found.outside, strict=True)
    assert {found.gates[a].name: found.gates[b].name for a, b in pairs} == {
        "y.x.relu": "y.x.zero",
        "y.x_2.choice.bn": "y.x_2.choice.zero",
    }


def test_zero_switches_in_front_are_not_counted_again() -> None:
    text = "x -> out : choose { relu, tanh } > choose { relu }"
    found = dependency(passes.insert_zero_identity(graph(body(text)), passes.Options(zero="before")))
    assert (found.inside, found.outside) == ((), ())


def test_uses_of_a_cell_share_their_groups() -> None:
    text = "cell c { in x x -> out : choose { relu, tanh } }" + body("x -> out : c > c > c")
    found = dependency(graph(text))
    assert found.groups == ("c:choice.relu", "c:choice.tanh")
    assert found.group == (0, 1) * 3
    proxyless = dependency(passes.group_switches(graph(text), passes.Options(mode="proxyless")))
    assert proxyless.group == tuple(range(6))


# ----------------------------------------------------------------------------------------------- size


def test_levels_count_switches_and_not_operations() -> None:
    assert len(dependency(stack(5, 2, 3, operations=0)).levels) == 4
    assert len(dependency(stack(5, 2, 3, operations=50)).levels) == 4
    assert entries(dependency(stack(5, 2, 3, operations=50))) == 4 * (6 + 6)


@pytest.mark.parametrize(
    ("space", "where"),
    [("darts", "after"), ("hierarchical", "after"), ("densenet", "before"), ("nasbench201", "before")],
)
def test_shipped_spaces_stay_small(space: str, where: Where) -> None:
    found = dependency(passes.insert_zero_identity(shipped(space, "search"), passes.Options(zero=where)))
    assert len(found.gates) > 0
    assert entries(found) < 6 * len(found.gates)


@given(made=random_graphs())
def test_everything_is_computed_before_it_is_read(made: Graph) -> None:
    for found in (
        made,
        *(passes.insert_zero_identity(made, passes.Options(zero=where)) for where in ("before", "after")),
    ):
        layout = dependency(found)
        assert layout == dependency(found), "the same every time"
        assert [gate for gate in layout.gates if gate.name.endswith(".zero")] == [
            edge.gate for edge in found.edges if isinstance(found[edge.target].op, Zero)
        ]
        waiting = {reader for level in layout.levels for reader in level.readers}
        summed: set[int] = set()
        for level in layout.levels:
            assert not waiting & set(level.terms)
            assert not summed & set(level.sums), "a sum is finished on its level"
            summed |= set(level.sums)
            assert summed >= set(level.reads)
            waiting -= set(level.readers)
        assert summed == set(range(layout.sums))
