"""Data from the user's own code, and its errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from bayesnas_graph.data import Data, InMemory, load
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

Module = Callable[[str], None]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    """Write an importable module `flags`, which is unloaded after the test."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text: str) -> None:
        (tmp_path / "flags.py").write_text(f"import numpy as np\nimport torch\n{text}")

    yield write
    sys.modules.pop("flags", None)


def own(spec: str = "flags:make") -> Data:
    return load(spec, Path("data"))


def items(image: str, label: str = "i % 3", more: str = "") -> str:
    """A module whose dataset has these items."""
    return f"""
class Set:
    {more or "pass"}
    def __len__(self): return 6
    def __getitem__(self, i): return {image}, {label}

def make(): return Set(), Set()
"""


@pytest.mark.parametrize(
    "image",
    [
        "torch.full((3, 4, 5), i / 10)",
        "torch.full((3, 4, 5), i / 10, dtype=torch.float64)",
        "np.full((3, 4, 5), i / 10)",
        "np.full((3, 4, 5), i / 10, dtype=np.float32)",
        "np.broadcast_to(np.float64(i / 10), (3, 4, 5))",
        "np.full((3, 4, 5), i / 10)[:, ::-1]",
    ],
)
def test_datasets_of_numbers(module: Module, image: str) -> None:
    module(items(image))
    data = own()
    assert (data.name, data.shape, data.classes, len(data.train)) == ("flags:make", (3, 4, 5), 3, 6)
    images, labels = data.train.take(torch.tensor([4, 1]))
    assert images.dtype == torch.float32
    assert images[:, 0, 0, 0].tolist() == pytest.approx([0.4, 0.1])
    assert labels.tolist() == [1, 1]
    assert data.statistics.mean == pytest.approx([0.25] * 3)


@pytest.mark.parametrize(
    ("image", "shape"),
    [
        ("torch.full((4, 5), i, dtype=torch.uint8)", (1, 4, 5)),
        ("np.full((4, 5), i, dtype=np.uint8)", (1, 4, 5)),
        ("Image.new('L', (5, 4), i)", (1, 4, 5)),
        ("Image.new('RGB', (5, 4), (i, i, i))", (3, 4, 5)),
        ("Image.new('RGBA', (5, 4), (i, i, i, 255))", (3, 4, 5)),
        ("Image.new('L', (5, 4), i).convert('P')", (3, 4, 5)),
    ],
)
def test_datasets_of_bytes(module: Module, image: str, shape: tuple[int, ...]) -> None:
    module("from PIL import Image\n" + items(image))
    data = own()
    assert data.shape == shape
    images, _ = data.train.take(torch.tensor([4]))
    assert images.dtype == torch.uint8
    assert set(images.flatten().tolist()) == {4}


@pytest.mark.parametrize("label", ["i % 3", "np.int64(i % 3)", "torch.tensor(i % 3)", "np.uint8(i % 3)"])
def test_labels(module: Module, label: str) -> None:
    module(items("torch.full((1, 2, 2), i / 10)", label))
    assert own().train.take(torch.arange(6))[1].tolist() == [0, 1, 2, 0, 1, 2]


def test_classes_that_a_dataset_lists(module: Module) -> None:
    module(items("torch.full((1, 2, 2), i / 10)", more="classes = ['a', 'b', 'c', 'd']"))
    assert own().classes == 4


def test_datasets_of_torch(module: Module) -> None:
    text = "from torch.utils.data import TensorDataset, Subset\n"
    text += "whole = TensorDataset(torch.rand(9, 1, 4, 4), torch.arange(9) % 2)\n"
    module(
        text + "class Inner:\n    make = staticmethod(lambda: (Subset(whole, range(6)), Subset(whole, range(6, 9))))"
    )
    data = own("flags:Inner.make")
    assert (len(data.train), len(data.test), data.classes) == (6, 3, 2)


DATA = """
from dataclasses import replace
from bayesnas_graph.data import Data, InMemory, Statistics
good = Data(
    "flags",
    InMemory(torch.rand(6, 1, 4, 4), torch.arange(6) % 2),
    InMemory(torch.rand(2, 1, 4, 4), torch.arange(2)),
    (1, 4, 4),
    2,
    Statistics((0.5,), (0.5,)),
)
class Odd:
    def __init__(self, take): self.take = take
    def __len__(self): return 4
"""


def test_data(module: Module) -> None:
    module(DATA + "def make(): return good")
    data = own()
    assert (data.name, data.shape, data.classes) == ("flags", (1, 4, 4), 2)
    assert isinstance(data.train, InMemory)
    module_text = "def make(): return replace(good, train=Odd(lambda i: (torch.rand(len(i), 1, 4, 4), i % 2)))"
    sys.modules.pop("flags")
    module(DATA + "\n\n" + module_text)
    assert own().train.take(torch.tensor([3]))[1].tolist() == [1]


ODD_MODULES = {
    "import nothing_like_this\n": "cannot be imported: no module `nothing_like_this`",
    "def make(:": "cannot be imported: SyntaxError: ",
    "1 / 0": "cannot be imported: ZeroDivisionError: division by zero",
    "raise SystemExit(3)": "cannot be imported: SystemExit: 3",
    "def made(): pass": "cannot be imported: AttributeError: module 'flags' has no attribute 'make'",
    "make = 3": "is `3`, which is not callable",
    "def make(): raise KeyError('x')": "failed: KeyError: 'x'",
    "def make(): exit()": "failed: SystemExit",
    "def make(n): pass": "failed: TypeError: make() missing 1 required positional argument: 'n'",
    "def make(): return None": "returned `None`",
    "def make(): return 1, 2, 3": "returned a `tuple`",
    "def make(): return 1, 2": "has `1` as the dataset for training",
    "def make(): return [1], object()": "has a `object` as the dataset for testing",
    "def make(): return [1], iter([])": "has no examples for testing",
    "def make(): return [], []": "has no examples for training",
    "def make(): return [1], [1]": "gives `1` as item 0, not a pair of an image and a label",
    items("torch.zeros(1, 2, 2)", more="def __len__(self): raise ValueError('no')\n    def x(self): pass").replace(
        "    def __len__(self): return 6\n", ""
    ): "failed to return the number of examples for training: ValueError: no",
    items("'x.png'"): "gives `'x.png'` as image 0",
    items("torch.zeros(1, 2, 2, dtype=torch.int64)"): "gives image 0 as numbers of type int64",
    items("torch.zeros(1, 2, 2)", "'cat'"): "gives `'cat'` as label 0",
    items("torch.zeros(1, 2, 2)", "True"): "gives `True` as label 0",
    items("torch.zeros(1, 2, 2)", "torch.tensor([1])"): "gives a `Tensor` as label 0",
    items("torch.zeros(1, 2, 2)", "i - 1"): "gives the label -1 to image 0 for training",
    items("torch.zeros(1, 2, 2)", "i", "classes = ['a', 'b']"): "gives the label 2 to image 2 for training",
    items("torch.zeros(1, 2 + i, 2)"): "has images of 1x2x2 and of 1x3x2",
    items("torch.zeros(1, 2, 2, 2)"): "has images of 1x2x2x2",
    items("[][i]"): "failed to return examples for training: IndexError: list index out of range",
    "def make(): return {0: 1}, {0: 1}": "gives `1` as item 0",
}


@pytest.mark.parametrize(("text", "message"), ODD_MODULES.items(), ids=ODD_MODULES.values())
def test_odd_modules(module: Module, text: str, message: str) -> None:
    module(text)
    with pytest.raises(NasError) as error:
        own()
    assert problem(error).code == "NAS505"
    assert problem(error).message.startswith(f"`flags:make` {message}")


ODD_DATA = {
    "good.train, shape=(1, 4)": "has images of 1x4 and of 1x4x4",
    "None": "has `None` for training",
    "InMemory(torch.zeros(0, 1, 4, 4), torch.arange(0))": "has no examples for training",
    "good.train, shape=[1, 4, 4]": "has a `list` as its shape",
    "good.train, classes='two'": "has `'two'` as its number of classes",
    "good.train, statistics=Statistics((0.5, 0.5), (1.0, 1.0))": "lacks a mean and a deviation for each of its 1 ",
    "good.train, statistics=None": "lacks a mean and a deviation",
    "InMemory(torch.zeros(6, 1, 4, 4), torch.arange(6))": "gives the label 2 to image 2 for training",
    "InMemory(torch.zeros(6, 1, 4, 4), torch.zeros(6))": "gives images of type float32 and labels of type float32",
    "InMemory(torch.zeros(6, 1, 4, 4).double(), torch.zeros(6).long())": "gives images of type float64",
    "Odd(lambda i: 1 / 0)": "failed to return examples for training: ZeroDivisionError",
    "Odd(lambda i: 5)": "failed to return examples for training: TypeError",
    "Odd(lambda i: (1, 2))": "gives `1` and `2` instead of tensors",
    "Odd(lambda i: (torch.zeros(7, 1, 4, 4), i % 2))": "gives 7 images and labels of shape 4 when asked for",
}


@pytest.mark.parametrize(("train", "message"), ODD_DATA.items(), ids=ODD_DATA.values())
def test_odd_data(module: Module, train: str, message: str) -> None:
    module(f"{DATA}\n\ndef make(): return replace(good, train={train})")
    with pytest.raises(NasError) as error:
        own()
    assert problem(error).code == "NAS505"
    assert problem(error).message.startswith(f"`flags:make` {message}")


@pytest.mark.parametrize("spec", ["no_such_module:make", "no.such.module:make"])
def test_no_such_module(spec: str) -> None:
    with pytest.raises(NasError) as error:
        own(spec)
    assert "no module `no" in problem(error).message
    assert "PYTHONPATH" in (problem(error).help or "")


@pytest.mark.parametrize("spec", ["a b:c", ":x", "x:", "../x:make", "os:system('x')", "fodler:images/", "http://x/y"])
def test_names_that_are_none(spec: str) -> None:
    with pytest.raises(NasError) as error:
        own(spec)
    assert "is neither a data set nor of the form `package.module:callable`" in problem(error).message
