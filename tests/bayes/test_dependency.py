"""Gamma: by hand, against a recursion in exact arithmetic, and its properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import inf
from random import Random
from typing import Any, Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.overrides import TorchFunctionMode

from bayesnas_graph import passes
from bayesnas_graph.bayes import Structure, one_hop, whole_path
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Edge, Graph
from bayesnas_graph.ir.ops import Choice, Input, Sum, Zero
from bayesnas_graph.ir.ops.join import Concat, Mean
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes.analysis.dependency import dependency
from tests.helpers import body, graph
from tests.passes.analysis.test_dependency import random_graphs, stack
from tests.programs import programs

Form = Callable[[Structure, Tensor], Tensor]
FORMS: tuple[Form, ...] = (one_hop, whole_path)
WHERE: tuple[Literal["before", "after"], ...] = ("before", "after")
Number = Fraction | float  # a fraction, or infinity
VALUES: tuple[Number, ...] = (*map(Fraction, (0, 1, 2, 3, 10**30)), Fraction(1, 7), Fraction(1, 10**30), inf)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def evaluate(form: Form, made: Graph, s: Sequence[float | Fraction]) -> Tensor:
    return form(Structure.of(dependency(made)), torch.tensor([float(value) for value in s], dtype=torch.float64))


def by_name(form: Form, made: Graph, **s: float) -> dict[str, float]:
    """Gamma by gate name, with `_` for dots. Switches that are not listed are 1."""
    names = [gate.name.replace(".", "_") for gate in made.gates]
    assert set(s) <= set(names), names
    return dict(zip(names, evaluate(form, made, [s.get(name, 1.0) for name in names]).tolist(), strict=True))


def both(*values: float) -> float:
    return 0.0 if 0 in values else 1 / sum(1 / value for value in values)


# ----------------------------------------------------------------------------------------- by hand


def test_choice_after_choice() -> None:
    made = graph(body("node y = x : choose { relu, tanh } node z = y : choose { relu, tanh } z -> out : optional bn"))
    s = {"y_relu": 1.0, "y_tanh": 2.0, "z_relu": 3.0, "z_tanh": 6.0, "optional": 9.0}
    z_relu, z_tanh = both(3, 1 + 2), both(6, 1 + 2)
    assert (z_relu, z_tanh) == (1.5, 2.0)
    assert by_name(one_hop, made, **s) == s | {"z_relu": 1.5, "z_tanh": 2.0, "optional": both(9, 3 + 6)}
    assert by_name(whole_path, made, **s) == s | {"z_relu": 1.5, "z_tanh": 2.0, "optional": both(9, 1.5 + 2)}


def test_a_skip_around_a_choice() -> None:
    text = "node a = x : optional relu node b a -> b a -> b : choose { relu, tanh } b -> out : optional bn"
    found = by_name(one_hop, graph(body(text)), a=4, b_a_relu=2, b_a_tanh=1, optional=7)
    assert found["b_a_relu"] == pytest.approx(both(2, 4))
    assert found["optional"] == pytest.approx(both(7, 4 + 2 + 1))
    found = by_name(whole_path, graph(body(text)), a=4, b_a_relu=2, b_a_tanh=1, optional=7)
    assert found["optional"] == pytest.approx(both(7, 4 + both(2, 4) + both(1, 4)))


def test_zero_before() -> None:
    """As in the paper: its own zero switch, the candidates before it, and itself."""
    made = passes.insert_zero_identity(
        graph(body("node y = x : choose { relu, tanh } node z = y : choose { relu, tanh } z -> out")),
        passes.Options(zero="before"),
    )
    s = {"y_zero": 5.0, "y_relu": 1.0, "y_tanh": 2.0, "z_zero": 7.0, "z_relu": 3.0, "z_tanh": 6.0}
    one, whole = by_name(one_hop, made, **s), by_name(whole_path, made, **s)
    assert one["y_zero"] == whole["y_zero"] == 5
    assert one["y_relu"] == whole["y_relu"] == pytest.approx(both(1, 5))
    assert one["z_zero"] == pytest.approx(both(7, 1 + 2))
    assert one["z_relu"] == pytest.approx(both(7, 1 + 2, 3))
    assert whole["z_relu"] == pytest.approx(both(7, both(1, 5) + both(2, 5), 3))


def test_zero_after() -> None:
    """The zero switch of a choice counts for its candidates and for the readers of the choice."""
    made = passes.insert_zero_identity(
        graph(body("node y = x : choose { relu, tanh } node z = y : choose { relu, tanh } z -> out")),
        passes.Options(zero="after"),
    )
    s = {"y_zero": 5.0, "y_relu": 1.0, "y_tanh": 2.0, "z_zero": 7.0, "z_relu": 3.0, "z_tanh": 6.0}
    one, whole = by_name(one_hop, made, **s), by_name(whole_path, made, **s)
    assert one["y_relu"] == whole["y_relu"] == pytest.approx(both(1, 5))
    assert one["y_zero"] == whole["y_zero"] == pytest.approx(both(5, 1 + 2))
    assert one["z_relu"] == whole["z_relu"] == pytest.approx(both(3, 7, both(5, 1 + 2)))
    assert one["z_zero"] == pytest.approx(both(7, 3 + 6)), "and not itself once more for each candidate"
    assert whole["z_zero"] == pytest.approx(both(7, both(3, 5, 1 + 2) + both(6, 5, 1 + 2)))


@pytest.mark.parametrize("form", FORMS)
def test_closed_zero_switches(form: Form) -> None:
    made = graph(body("node y = x : choose { relu, optional (tanh > bn) > bn } y -> out : choose { relu }"))
    for where in WHERE:
        found = by_name(form, passes.insert_zero_identity(made, passes.Options(zero=where)), y_zero=0.0)
        off = {name for name, gamma in found.items() if gamma == 0}
        assert off >= {"y_zero", "y_relu", "y_chain_optional"}
        # More than a hop behind a zero switch in front are a candidate that ends in a switch, and the next choice.
        assert (off >= {"y_chain", "choice_relu"}) == (where == "after" or form is whole_path)


def test_products_and_concatenations() -> None:
    text = "node a = x : optional relu node b = x : optional tanh "
    product = graph(body(text + "product(a, b) -> out : optional bn"))
    assert by_name(one_hop, product, a=2, b=3, optional=5)["optional"] == pytest.approx(both(5, 2, 3))
    assert by_name(one_hop, product, a=2, b=0, optional=5)["optional"] == 0
    concat = graph(body(text + "concat(a, b) -> out : optional conv(3)"))
    assert by_name(one_hop, concat, a=2, b=3, optional=5)["optional"] == pytest.approx(both(5, 2 + 3))
    assert by_name(one_hop, concat, a=2, b=0, optional=5)["optional"] == pytest.approx(both(5, 2))
    fixed = graph(body("node a = x : optional relu product(a, x) -> out : optional bn"))
    assert by_name(one_hop, fixed, a=2, optional=5)["optional"] == pytest.approx(both(5, 2)), "x is always there"


def test_a_choice_in_a_choice() -> None:
    made = passes.insert_zero_identity(graph(body("node y = x : choose { choose { relu, gelu } > bn, tanh } y -> out")))
    inner = {"y_chain_choice_relu": 2.0, "y_chain_choice_gelu": 3.0, "y_chain_choice_zero": 5.0}
    found = by_name(one_hop, made, **inner, y_chain=4, y_zero=7)
    assert found["y_chain_choice_relu"] == pytest.approx(both(2, 5, 7))
    assert found["y_chain_choice_zero"] == pytest.approx(both(5, 2 + 3, 7))
    assert found["y_chain"] == pytest.approx(both(4, both(5, 2 + 3), 7))
    assert found["y_zero"] == pytest.approx(both(7, 4 + 1))


def test_a_zero_switch_on_two_inputs() -> None:
    text = "motif add { in a, b out sum(a, b) } motif multiply { in a, b out product(a, b) }" + body(
        "let pick = choose { add, multiply } node u = x : optional relu node v = x : optional tanh"
        " node y = pick(u, v) y -> out"
    )
    made = passes.insert_zero_identity(graph(text), passes.Options(zero="before"))
    structure = Structure.of(dependency(made))
    s = {"u": 2.0, "v": 0.0, "y.zero": 3.0, "y.add": 5.0, "y.multiply": 5.0}
    gamma = one_hop(structure, torch.tensor([s[gate.name] for gate in made.gates], dtype=torch.float64))
    found = dict(zip(dict.fromkeys(gate.group for gate in made.gates), structure.reduce(gamma).tolist(), strict=True))
    assert found["y.zero"] == pytest.approx(both(3, 2)), "on, since it is on for `u`"
    assert found["y.add"] == pytest.approx(both(5, both(3, 2)))
    assert found["y.multiply"] == 0


def test_a_cell_used_twice() -> None:
    """The first use has no dependencies, the second depends on the first; the larger value counts."""
    text = "cell c { in x x -> out : choose { relu, tanh } }" + body("x -> out : c > c")
    structure = Structure.of(dependency(graph(text)))
    s = torch.tensor([2.0, 1.0], dtype=torch.float64)
    gamma = one_hop(structure, structure.spread(s))
    torch.testing.assert_close(gamma, torch.tensor([2, 1, both(2, 3), both(1, 3)], dtype=torch.float64))
    torch.testing.assert_close(structure.reduce(gamma), s)


# ------------------------------------------------------------------------------- against a recursion


def harmonic(values: Sequence[Number]) -> Number:
    if 0 in values:
        return Fraction(0)
    inverse = sum((1 / value for value in values if value != inf), Fraction(0))
    return 1 / inverse if inverse else inf


def recursion(made: Graph, s: Sequence[Number], whole: bool) -> list[Number]:
    """Gamma by its definition, one switch at a time."""
    own = {edge: s[i] for i, edge in enumerate(edge for edge in made.edges if edge.gate)}

    @cache
    def before(name: str) -> frozenset[Any] | None:
        """The switches any of which suffices, or None if always on; a nested set means that all are needed."""
        op, handed = made[name].op, []
        for edge in made.inputs(name):
            handed.append(frozenset({edge}) if edge.gate else before(edge.source))
        if isinstance(op, Input) or (isinstance(op, Sum | Mean | Concat) and None in handed):
            return None
        if isinstance(op, Sum | Mean | Concat):
            return frozenset().union(*(some for some in handed if some is not None))
        needed: set[frozenset[Any]] = set()
        for some in handed:
            if some is not None:
                (only, *more) = some
                needed |= only if isinstance(only, frozenset) and not more else {some}
        if len(needed) > 1:
            return frozenset({frozenset(needed)})
        return next(iter(needed), None)

    @cache
    def value(some: frozenset[Any] | None) -> Number:
        return inf if some is None else sum((handed_on(each) for each in some), Fraction(0))

    def handed_on(each: Edge | frozenset[Any]) -> Number:
        if isinstance(each, frozenset):
            return harmonic([value(some) for some in each])
        stops = not whole and not isinstance(made[each.target].op, Zero)
        return own[each] if stops else flow(each)

    def flow(edge: Edge) -> Number:
        return harmonic([own[edge], value(before(edge.source))])

    def is_part(name: str, choice: str) -> bool:
        """Whether a node is a choice or leads to it through nodes whose names start with its name."""
        readers = (edge.target for edge in made.edges if edge.source == name)
        inside = name.startswith(f"{choice}.") and any(is_part(reader, choice) for reader in readers)
        return name == choice or inside

    def zeros(edge: Edge) -> list[Number]:
        behind = [e for e in own if isinstance(made[e.target].op, Zero) and isinstance(made[e.source].op, Choice)]
        return [own[e] for e in behind if e.target == f"{e.source}.zero" and is_part(edge.target, e.source)]

    return [harmonic([flow(edge), *zeros(edge)]) for edge in own]


def compare(made: Graph, random: Random) -> None:
    s = [random.choice(VALUES) for _ in made.gates]
    for form in FORMS:
        exact = recursion(made, s, form is whole_path)
        expected = torch.tensor([float(value) for value in exact], dtype=torch.float64)
        expected = expected.clamp(max=torch.finfo(torch.float64).max)
        torch.testing.assert_close(evaluate(form, made, s), expected, rtol=1e-9, atol=0.0)


def both_places(made: Graph) -> tuple[Graph, Graph, Graph]:
    return made, *(passes.insert_zero_identity(made, passes.Options(zero=where)) for where in WHERE)  # type: ignore[return-value]


def from_text(text: str) -> Iterator[Graph]:
    for network in Checker(Report()).text(Source("t", text)).networks:
        yield network.graph()


LARGEST = 100  # nodes: what the result is compared with takes time by the square of them


@settings(max_examples=40)
@given(text=programs(fault=0), random=st.randoms(use_true_random=False))
def test_random_programs(text: str, random: Random) -> None:
    for made in from_text(text):
        if len(made) > LARGEST:
            continue
        for placed in both_places(made):
            compare(placed, random)


@given(made=random_graphs(), random=st.randoms(use_true_random=False))
def test_random_graphs(made: Graph, random: Random) -> None:
    for placed in both_places(made):
        compare(placed, random)


# --------------------------------------------------------------------------------------------- laws

numbers = st.one_of(st.sampled_from([0.0, 1e-30, 1e30, inf]), st.floats(2.0**-99, 2.0**99, width=32))


@st.composite
def settings_of_switches(draw: st.DrawFn, dtype: torch.dtype) -> tuple[Graph, Structure, Tensor]:
    made = draw(st.sampled_from(both_places(draw(random_graphs()))))
    count = len(made.gates)
    s = torch.tensor(draw(st.lists(numbers, min_size=count, max_size=count)), dtype=dtype)
    return made, Structure.of(dependency(made)), s


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_laws(dtype: torch.dtype) -> None:
    @given(drawn=settings_of_switches(dtype), random=st.randoms(use_true_random=False))
    def obeyed(drawn: tuple[Graph, Structure, Tensor], random: Random) -> None:
        made, structure, s = drawn
        given_s = s.clone()
        one, whole = one_hop(structure, s), whole_path(structure, s)
        assert torch.equal(s, given_s), "what is given stays as it is"
        for gamma in (one, whole):
            assert gamma.dtype == dtype
            assert gamma.isfinite().all()
            assert (gamma >= 0).all()
            assert (gamma <= s).all()
        assert (whole <= one).all()
        for edge, gamma in zip((edge for edge in made.edges if edge.gate), one.tolist(), strict=True):
            into = [i for i, e in enumerate(e for e in made.edges if e.gate) if e.target == edge.source]
            if into and len(into) == len(made.inputs(edge.source)):  # every edge into its tail is a switch
                assert gamma <= s[into].sum().item() * (1 + 1e-6)
        if len(s):
            larger = s.clone()
            larger[random.randrange(len(s))] *= random.choice((1.5, 1e9))
            assert (one_hop(structure, larger) >= one).all()
            assert (whole_path(structure, larger) >= whole).all()

    obeyed()


@given(made=random_graphs())
def test_what_nothing_comes_into_nothing_comes_out_of(made: Graph) -> None:
    for placed in both_places(made):
        edges = [edge for edge in placed.edges if edge.gate]
        for choice in (node.name for node in placed if isinstance(node.op, Choice)):
            s = [0.0 if edge.target == choice else 1.0 for edge in edges]
            for form in FORMS:
                gamma = evaluate(form, placed, s).tolist()
                assert all(g == 0 for edge, g in zip(edges, gamma, strict=True) if edge.source == choice)


@given(made=random_graphs(), random=st.randoms(use_true_random=False))
def test_both_places_of_a_zero_switch_have_one_logic(made: Graph, random: Random) -> None:
    """On the whole path the same candidates are off. With one hop, `after` also sees the previous zero switch."""
    setting = {gate.name: float(random.random() < 0.7) for gate in passes.insert_zero_identity(made).gates}
    found: dict[tuple[Form, str], list[float]] = {}
    for where in WHERE:
        placed = passes.insert_zero_identity(made, passes.Options(zero=where))
        names = [gate.name for gate in placed.gates]
        for form in FORMS:
            gamma = dict(zip(names, evaluate(form, placed, [setting[name] for name in names]).tolist(), strict=True))
            found[form, where] = [gamma[gate.name] for gate in made.gates]
    on = {key: [value > 0 for value in values] for key, values in found.items()}
    assert on[whole_path, "before"] == on[whole_path, "after"]
    pairs = zip(found[one_hop, "before"], found[one_hop, "after"], strict=True)
    assert all(after <= before * (1 + 1e-12) for before, after in pairs)


# --------------------------------------------------------------------------------------------- size


class Calls(TorchFunctionMode):
    """Counts calls into torch."""

    count = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return function(*args, **(kwargs or {}))


def calls(form: Form, structure: Structure, s: Tensor) -> int:
    counter = Calls()
    with counter:
        form(structure, s)
    return counter.count


@pytest.mark.parametrize("form", FORMS)
def test_a_wider_graph_takes_no_more_calls(form: Form) -> None:
    narrow, wide = (Structure.of(dependency(stack(6, width, 3))) for width in (1, 40))
    expected = calls(form, narrow, torch.ones(len(narrow.group)))
    assert calls(form, wide, torch.ones(len(wide.group))) == expected


def test_a_hundred_thousand_switches() -> None:
    structure = Structure.of(dependency(stack(50, 400, 5)))
    s = torch.ones(len(structure.group))
    assert (len(s), len(structure.levels)) == (100_000, 49)
    assert calls(one_hop, structure, s) < 20 * 50
    torch.testing.assert_close(one_hop(structure, s)[2000:], torch.full((98_000,), both(1, 2000)))
    gamma = whole_path(structure, s)
    assert gamma.isfinite().all()
    assert (gamma > 0).all()


def test_structures_move() -> None:
    structure = Structure.of(dependency(stack(3, 2, 2)))
    moved = structure.to("meta")
    assert moved.group.device.type == "meta"
    assert {level.terms.device.type for level in moved.levels} == {"meta"}
    assert one_hop(moved, torch.ones(12, device="meta")).shape == (12,)
