"""Counts against published numbers and against counting by hand."""

from __future__ import annotations

import pytest

from bayesnas_graph.passes.analysis import cost, switches
from tests.helpers import body, graph
from tests.passes.cases import shipped


@pytest.mark.parametrize(
    ("space", "network", "settings"),
    [
        ("nasbench201", "search", 15_625),  # 5^6, as the benchmark says
        ("darts", "search", 2**196),  # two cells of fourteen edges with seven candidates each
        ("darts", "evaluation", 2**196),
        ("densenet", "search", 2**45),
        ("lenet5", "lenet5", 1),
    ],
)
def test_architectures(space: str, network: str, settings: int) -> None:
    assert switches(shipped(space, network)).settings == settings


def test_number_of_switch_settings() -> None:
    found = switches(graph(body("x -> out : choose 2 { relu, tanh, bn } > optional relu > choose { swish, gelu }")))
    assert (found.choices, found.candidates, found.gates) == (3, 6, 6)
    assert found.settings == (1 + 3 + 3) * 2 * 4


def test_shared_switches_count_once() -> None:
    text = "cell c { in x x -> out : choose { relu, tanh } }" + body("x -> out : c > c > c")
    found = switches(graph(text))
    assert (found.choices, found.candidates, found.gates, found.settings) == (1, 2, 6, 4)


def test_costs_by_hand() -> None:
    found = cost(
        graph(body("x -> out : conv(4, 3) > bn > relu > flatten > linear(10)", "image(3, 8, 8) -> classes(10)"))
    )
    assert found.parameters == 4 * 3 * 9 + 8 + 256 * 10 + 10
    assert found.flops == 8 * 8 * 4 * 3 * 9 + 2560
    assert found.values == 3 * 256 + 10
    assert found.memory(batch=2) == 8 * found.values


@pytest.mark.parametrize(
    ("space", "network", "flops"),
    [
        ("resnet18_cifar", "resnet18", 555_422_720),  # 0.56 G multiply-adds in the literature
        ("lenet300", "lenet300", 266_200),
        ("lenet5", "lenet5", 2_293_000),
    ],
)
def test_known_multiply_adds(space: str, network: str, flops: int) -> None:
    assert cost(shipped(space, network)).flops == flops
