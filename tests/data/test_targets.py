"""Values to predict, from the user's own code, and their errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bayesnas_graph.data import Augmentation, Data, InMemory, Loading, Statistics, check_fit, load, training
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

Module = Callable[[str], None]
IMAGES = torch.rand(6, 1, 2, 2)
STATISTICS = Statistics((0.5,), (0.3,))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    """Write an importable module `temperatures`, with the target of example `i`; it is unloaded after the test."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(target: str) -> None:
        (tmp_path / "temperatures.py").write_text(f"""
import numpy as np
import torch
class Set:
    def __len__(self): return 6
    def __getitem__(self, i): return torch.full((1, 2, 2), i / 10) + torch.eye(2) / 9, {target}
def make(): return Set(), Set()
""")

    yield write
    sys.modules.pop("temperatures", None)


def own() -> Data:
    return load("temperatures:make", Path("data"))


@pytest.mark.parametrize(
    ("target", "count"),
    [
        ("i / 2", 1),
        ("np.float64(i / 2)", 1),
        ("torch.tensor(i / 2)", 1),
        ("np.array([i / 2])", 1),
        ("torch.tensor([i / 2, -i / 2])", 2),
        ("[i / 2, -i / 2]", 2),
    ],
)
def test_values(module: Module, target: str, count: int) -> None:
    module(target)
    data = own()
    assert (data.targets, data.classes, data.warnings) == ("values", count, ())
    _, values = data.train.take(torch.tensor([4, 1]))
    assert values.dtype == torch.float32
    assert values[:, 0].tolist() == [2, 0.5]


@pytest.mark.parametrize(
    "target",
    ["[i % 2, i // 3]", "np.array([i % 2, i // 3])", "torch.tensor([i % 2, i // 3]).bool()", "(i % 2 == 1, i > 2)"],
)
def test_labels(module: Module, target: str) -> None:
    module(target)
    data = own()
    assert (data.targets, data.classes, data.warnings) == ("labels", 2, ())
    _, labels = data.train.take(torch.tensor([4, 1]))
    assert labels.tolist() == [[False, True], [True, False]]


def test_labels_of_no_image(module: Module) -> None:
    module("[i % 2, 0, i // 3]")
    (warning,) = own().warnings
    assert warning.message == "no image has label 1, in `temperatures:make` for training"


@pytest.mark.parametrize(
    "target", ["torch.eye(2).long() * (i % 3)", "np.eye(2, dtype=np.uint8) * (i % 3)", "[[i % 3, 0], [0, i % 3]]"]
)
def test_maps(module: Module, target: str) -> None:
    module(target)
    data = own()
    assert (data.targets, data.classes, data.warnings) == ("map", 3, ())
    _, maps = data.train.take(torch.tensor([4, 1]))
    assert maps.tolist() == [[[1, 0], [0, 1]]] * 2
    check_fit(data, "net", ((1, 2, 2),), ((3, 2, 2),), {}, "map")
    with pytest.raises(NasError) as error:
        check_fit(data, "net", ((1, 2, 2),), ((4, 2, 2),), {}, "map")
    found = problem(error)
    assert found.help == "declare the output as `map(3, 2, 2)`"
    assert "has one of 3 classes for each of 2x2 pixels, but the network `net` outputs 4x2x2" in found.message


def test_maps_are_mirrored_with_their_images() -> None:
    images = torch.rand(8, 1, 4, 4)
    examples = InMemory(images, (images[:, 0] * 255).byte())
    loading = Loading(8, 0, Augmentation(flip=True), Statistics((0.0,), (1.0,)), torch.device("cpu"))
    ((moved, maps),) = training(examples, torch.arange(8), loading, epoch=0)
    assert torch.equal((moved[:, 0] * 255).byte(), maps)
    straight = {tuple(one.flatten().tolist()) for one in examples.labels}
    assert 0 < sum(tuple(one.flatten().tolist()) in straight for one in maps) < 8


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("i / 2 if i else float('nan')", "gives a value that is infinite or not a number to image 0 for training"),
        ("i / 2 if i < 5 else 3", "gives a value to an image and the label 3 to another for training"),
        ("[0.5] * (1 + i // 5)", "gives a value to an image and 2 values to another for training"),
        ("torch.tensor([])", "gives a `Tensor` as label 0 for training"),
        ("torch.ones(2, 2)", "gives a `Tensor` as label 0 for training"),
        ("torch.ones(2, 3).long()", "1 images and labels of shape 1x2x3 when asked for 1 examples"),
        ("torch.ones(2, 2).long() * 256", "gives a `Tensor` as label 0 for training"),
        ("[0, 2]", "gives a `list` as label 0 for training"),
        ("[1, 0] if i else 1", "gives the label 1 to an image and 2 labels to another for training"),
        ("np.str_('cat')", "gives `np.str_('cat')` as label 0 for training"),
        ("1j", "gives a `complex` as label 0 for training"),
    ],
)
def test_unusable_values(module: Module, target: str, message: str) -> None:
    module(target)
    with pytest.raises(NasError) as error:
        own()
    assert problem(error).code == "NAS505"
    assert message in problem(error).message


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("100.0 * i", "value 0 has mean 250 and standard deviation 171"),
        ("[i / 2, 0.25]", "value 1 is the same everywhere"),
        ("i / 1000", "value 0 has mean 0.0025 and standard deviation 0.00171"),
    ],
)
def test_values_that_are_not_standardised(module: Module, target: str, message: str) -> None:
    module(target)
    (warning,) = own().warnings
    assert (warning.code, warning.severity) == ("NAS509", "warning")
    assert warning.message == f"{message}, in `temperatures:make` for training"


def data(targets: torch.Tensor) -> Data:
    examples = InMemory(IMAGES, targets)
    return Data("heat", examples, examples, (1, 2, 2), 1, STATISTICS, targets="values")


def test_own_data_with_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.data.test_targets.make", lambda: data(torch.arange(6.0).view(6, 1)), raising=False)
    assert load("tests.data.test_targets:make", Path("data")).targets == "values"
    for wrong, message in {
        torch.arange(6): "images of type float32 and labels of type int64",
        torch.arange(6.0): "labels of shape 6 when asked for 6 examples",
    }.items():
        monkeypatch.setattr("tests.data.test_targets.make", lambda wrong=wrong: data(wrong))
        with pytest.raises(NasError) as error:
            load("tests.data.test_targets:make", Path("data"))
        assert message in problem(error).message


def test_networks_that_predict_something_else() -> None:
    values = data(torch.arange(6.0).view(6, 1))
    check_fit(values, "net", ((1, 2, 2),), ((1,),), {}, "values")
    with pytest.raises(NasError) as error:
        check_fit(values, "net", ((1, 2, 2),), ((1,),), {})
    found = problem(error)
    assert found.message == "`heat` has floating-point targets, but the network `net` predicts classes"
    assert found.help == "declare the output as `values(1)`, or give whole numbers as labels"
    with pytest.raises(NasError) as error:
        check_fit(replace(values, targets="classes"), "net", ((1, 2, 2),), ((1,),), {}, "values")
    found = problem(error)
    assert "has whole numbers as targets, which are classes, but the network `net` predicts values" in found.message
    with pytest.raises(NasError) as error:
        check_fit(values, "net", ((1, 2, 2),), ((3,),), {}, "values")
    found = problem(error)
    assert found.message == "`heat` has 1 value for each image, but the network `net` outputs 3 values"
    assert found.help == "declare the output as `values(1)`"
