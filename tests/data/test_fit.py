"""Whether a network fits the data, and which parameters would make it fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from bayesnas_graph.data import Data, InMemory, Statistics, check_fit
from bayesnas_graph.diagnostics import NasError

NONE = InMemory(torch.zeros(0, 1, 28, 28), torch.zeros(0))
MNIST = Data("mnist", NONE, NONE, (1, 28, 28), 10, Statistics((0.1,), (0.3,)))

Shapes = tuple[tuple[int, ...], ...]


def said(
    inputs: Shapes, outputs: Shapes, parameters: dict[str, object] | None = None, data: Data = MNIST
) -> list[tuple[str, str | None]]:
    with pytest.raises(NasError) as error:
        check_fit(data, "net", inputs, outputs, parameters or {})
    assert {diagnostic.code for diagnostic in error.value.diagnostics} == {"NAS504"}
    return [(diagnostic.message, diagnostic.help) for diagnostic in error.value.diagnostics]


@pytest.mark.parametrize("taken", [(1, 28, 28), (784,)])
def test_networks_that_fit(taken: tuple[int, ...]) -> None:
    check_fit(MNIST, "net", (taken,), ((10,),), {})


SHAPE = "images of `mnist` are 1x28x28, but the network `net` takes"


@pytest.mark.parametrize(
    ("taken", "parameters", "help"),
    [
        ((3, 28, 28), ["channels"], "make it fit with `-p channels=1`"),
        ((1, 32, 32), ["size"], "make it fit with `-p size=28`"),
        ((3, 32, 32), ["channels", "size", "width"], "make it fit with `-p channels=1 -p size=28`"),
        ((3, 32, 32), ["size"], "declare the input as `image(1, 28, 28)`; unchanged, it fits `shapes`, `cifar10`"),
        ((3, 32, 16), ["size", "channels"], "declare the input as `image(1, 28, 28)`; unchanged, it fits `shapes`"),
        ((1, 8, 8), [], "declare the input as `image(1, 28, 28)`; unchanged, it fits `digits`, `shapes`"),
    ],
)
def test_inputs(taken: tuple[int, ...], parameters: list[str], help: str) -> None:
    found = said((taken,), ((10,),), dict.fromkeys(parameters, 1))
    assert found == [(f"{SHAPE} {'x'.join(map(str, taken))}", help)]


@pytest.mark.parametrize(
    ("length", "fits"),
    [(64, "; unchanged, it fits `digits`"), (783, ""), (3072, "; unchanged, it fits `shapes`, `cifar10`")],
)
def test_vectors_of_another_length(length: int, fits: str) -> None:
    message = f"images of `mnist` are 1x28x28, 784 values, but the network `net` takes a vector of {length:,}"
    help = f"declare the input as `vector(784)` to flatten the images, or as `image(1, 28, 28)`{fits}"
    assert said(((length,),), ((10,),), {"size": 28, "channels": 1}) == [(message, help)]


def test_data_that_are_vectors() -> None:
    own = replace(MNIST, name="own", shape=(7,))
    check_fit(own, "net", ((7,),), ((10,),), {})
    message, help = "images of `own` are 7, but the network `net` takes", "declare the input as `vector(7)`"
    assert said(((8,),), ((10,),), data=own) == [(f"{message} 8", help)]
    assert said(((1, 1, 7),), ((10,),), data=own) == [(f"{message} 1x1x7", f"{help}; unchanged, it fits `shapes`")]


def test_tables() -> None:
    own = replace(MNIST, name="own", shape=(7, 1, 1))
    for shape in ((8,), (8, 1, 1)):
        ((_, help),) = said((shape,), ((10,),), {"features": 8, "channels": 8}, data=own)
        assert help == "make it fit with `-p features=7`"


@pytest.mark.parametrize(
    ("given", "parameters", "message", "help"),
    [
        ((100,), ["labels"], "outputs 100 classes", "make it fit with `-p labels=10`"),
        ((2,), [], "outputs 2 classes", "declare the output as `classes(10)`"),
        ((10, 1, 1), ["labels"], "outputs 10x1x1", "declare the output as `classes(10)`"),
    ],
)
def test_outputs(given: tuple[int, ...], parameters: list[str], message: str, help: str) -> None:
    found = said(((1, 28, 28),), (given,), dict.fromkeys(parameters, 1))
    assert found == [(f"`mnist` has 10 classes, but the network `net` {message}", help)]


def test_numbers_of_inputs_and_outputs() -> None:
    found = said(((1, 28, 28), (1, 28, 28)), ((10,), (10,)))
    assert [message for message, _ in found] == [
        "the network `net` has 2 inputs, but data sets have one",
        "the network `net` has 2 outputs, but must have one",
    ]


def test_all_problems_are_reported_at_once() -> None:
    found = said(((3, 32, 32),), ((100,),))
    assert len(found) == 2
    assert all(help and help.endswith("unchanged, it fits `cifar100`") for _, help in found)
