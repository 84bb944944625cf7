"""Drop-path in a network without gates: its paths, and the effect of dropping them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit, transfer
from bayesnas_graph.runtime import dropped, dropping
from bayesnas_graph.train.paths import paths, with_dropped_paths
from tests.helpers import body, graph
from tests.train.networks import FIXED, problem


def found(statements: str) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in paths(graph(body(statements)))]


def test_of_a_residual_block() -> None:
    of_network = [edge.source for edge in paths(graph(FIXED))]
    assert of_network == [
        *("y.residual.h.x.bn", "y.residual.h.x_2.bn"),
        *("y.reduction.h.x.bn", "y.reduction.h.x_2.conv"),
        *("y.residual_2.h.x.bn", "y.residual_2.h.x_2.bn"),
    ]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("x -> out : conv() > relu", []),  # no sum
        ("node h  x -> h : conv() > bn  h -> out : relu", []),  # of one term
        ("node h  x -> h : conv()  x -> h  h -> out : relu", ["h.x"]),
        ("node h  x -> h : conv()  x -> h : identity  h -> out : relu", ["h.x"]),
        ("node y = x : conv()  node h = sum(y, y)  h -> out : relu", []),  # read twice, by one sum
        ("node y = x : conv()  node h = mean(y, x)  h -> out : relu", []),  # a mean is not a sum
        ("node a = x : conv()  node b = a : conv()  node h = sum(a, b)  h -> out : relu", ["b"]),
    ],
)
def test_what_is_a_path(statements: str, expected: list[str]) -> None:
    assert [source for source, _ in found(statements)] == expected


def test_an_output_of_the_network_is_not_a_path() -> None:
    text = """
        network n : image(3, 8, 8) -> image(3, 8, 8), image(3, 8, 8) {
            in x
            node a = x : conv()
            node b = x : conv()
            out a, sum(a, b)
        }
    """
    assert [edge.source for edge in paths(graph(text))] == ["b"]


def networks(seed: int = 0) -> tuple[nn.Module, nn.Module]:
    """The plain network and the one with drop-path, with the same weights."""
    plain, other = graph(FIXED), with_dropped_paths(graph(FIXED))
    passes.verify(other)
    programs = emit(plain, standalone=True), emit(other)
    torch.manual_seed(seed)
    modules = build(programs[0]).double(), build(programs[1]).double()
    modules[1].load_state_dict(transfer(modules[0].state_dict(), *programs))
    return modules


def test_nothing_is_dropped_by_default() -> None:
    plain, other = networks()
    x = torch.rand(5, 1, 8, 8, dtype=torch.float64)
    assert list(plain.state_dict()) == list(other.state_dict()), "dropping has no weights"
    assert torch.equal(plain(x), other(x))
    with dropping(0.0):
        assert torch.equal(plain(x), other(x))
    with dropping(0.5):
        assert not torch.allclose(plain(x), other(x))


def test_dropping_changes_nothing_on_average() -> None:
    """For a sum with dropped terms, the mean over many draws equals the sum without dropping."""
    text = body("node h  x -> h : conv()  x -> h : conv(k = 1)  x -> h  node y = h : identity  y -> out : identity")
    plain, other = graph(text), with_dropped_paths(graph(text))
    assert len(other) == len(plain) + 2
    programs = emit(plain), emit(other)
    torch.manual_seed(0)
    first, second = build(programs[0]), build(programs[1])
    second.load_state_dict(transfer(first.state_dict(), *programs))
    x, draws = torch.rand(1, 3, 8, 8), 4000
    with torch.no_grad(), dropping(0.3, torch.Generator().manual_seed(1)):
        many: Tensor = second(x.expand(draws, -1, -1, -1))
        expected = first(x)[0]
    error = many.std(0) / draws**0.5
    assert ((many.mean(0) - expected).abs() < 5 * error + 1e-6).all()
    assert len({tuple(sample.flatten().tolist()) for sample in many}) == 4, "each of two paths is there or not"


def test_samples_are_dropped_by_themselves_and_whole() -> None:
    with dropping(0.5, torch.Generator().manual_seed(0)):
        value = dropped(torch.ones(64, 2, 3, 3, dtype=torch.bfloat16))
    assert value.dtype == torch.bfloat16
    sums = value.float().sum((1, 2, 3)).tolist()
    assert set(sums) == {0.0, 36.0}
    assert 16 < sums.count(0.0) < 48


def test_the_chance_rises_with_every_step() -> None:
    given = problem(drop_path=0.3)
    assert given.total_steps == 30
    assert [round(given.drop(step), 6) for step in (0, 10, 15, 29)] == [0.0, 0.1, 0.15, 0.29]
    assert problem(drop_path=0.0).trained_graph == problem(drop_path=0.0, auxiliary=0.4).trained_graph
