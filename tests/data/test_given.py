"""Data given as Python objects: every kind becomes the same data, and what cannot be used is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from bayesnas_graph.data import Data, InMemory, Statistics
from bayesnas_graph.data import part as parts
from bayesnas_graph.data.given import data_from
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

Pair = tuple[Tensor, Tensor]


def pair(count: int = 12) -> Pair:
    """Images and labels."""
    images = torch.rand(count, 1, 4, 4, generator=torch.Generator().manual_seed(count))
    return images, torch.arange(count) % 3


class Mapped(Dataset[Any]):
    """A map-style dataset."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Any:
        return self.images[index], int(self.labels[index])


class Stream(IterableDataset[Any]):
    """An iterable dataset."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        self.items = list(zip(images, labels.tolist(), strict=True))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


class Image:
    """A type of column, as of the package `datasets`."""


class ClassLabel:
    """Another one."""

    def __init__(self, names: list[str]) -> None:
        self.names = names


class Rows:
    """A dataset with columns, as of the package `datasets`."""

    def __init__(self, images: Tensor, labels: Tensor, **more: Any) -> None:
        self.rows = [
            {"id": 7, "picture": image.tolist(), "kind": label}
            for image, label in zip(images, labels.tolist(), strict=True)
        ]
        self.features = {"id": object(), "picture": Image(), "kind": ClassLabel(["a", "b", "c"]), **more}

    @property
    def column_names(self) -> list[str]:
        return list(self.features)

    def with_format(self, _: None) -> Rows:
        return self

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Any:
        return self.rows[index]


class Splits(dict[str, Rows]):
    """Several of them, as of the package `datasets`."""

    column_names: ClassVar[dict[str, list[str]]] = {}

    def with_format(self, _: None) -> Splits:
        return self


GIVEN: dict[str, tuple[Any, Any]] = {
    "pair of tensors": (pair(), pair(6)),
    "TensorDataset": (TensorDataset(*pair()), TensorDataset(*pair(6))),
    "Mapped": (Mapped(*pair()), Mapped(*pair(6))),
    "DataLoader of Mapped": (DataLoader(Mapped(*pair()), 5), DataLoader(Mapped(*pair(6)))),
    "Stream": (Stream(*pair()), Stream(*pair(6))),
    "DataLoader of Stream": (DataLoader(Stream(*pair())), DataLoader(Stream(*pair(6)))),
    "Hugging Face Rows": (Rows(*pair()), Rows(*pair(6))),
    "pair of tensors and Mapped": (pair(), Mapped(*pair(6))),
}


def check(data: Data) -> None:
    """Every way of giving the data gives the same."""
    assert (data.shape, data.classes) == ((1, 4, 4), 3)
    for examples, (images, labels) in ((data.train, pair()), (data.test, pair(6))):
        order = torch.arange(len(labels)).flip(0)
        found, found_labels = examples.take(order)
        assert torch.equal(found, images[order])
        assert torch.equal(found_labels, labels[order])
    assert data.statistics.mean == pytest.approx([pair()[0].mean().item()])


@pytest.mark.parametrize("kind", GIVEN)
def test_kinds(kind: str) -> None:
    given = data_from(GIVEN[kind], "data")
    assert given.kind == kind
    check(given.data)
    check(data_from(lambda: GIVEN[kind], "data").data)


def test_a_dictionary_of_splits() -> None:
    check(data_from(Splits(train=Rows(*pair()), validation=Rows(*pair(3)), test=Rows(*pair(6))), "data").data)
    check(data_from(Splits(train=Rows(*pair()), validation=Rows(*pair(6))), "data").data)
    with pytest.raises(NasError) as error:
        data_from(Splits(all=Rows(*pair())), "data")
    assert problem(error).message == "`data` has the splits `all`, none of which is for training"


def test_arrays() -> None:
    def arrays(count: int) -> tuple[Any, Any]:
        return tuple(values.numpy() for values in pair(count))  # type: ignore[return-value]

    check(data_from((arrays(12), arrays(6)), "data").data)


def test_tensors_stay_in_memory() -> None:
    """So they can stay on a GPU."""
    for kind in ("pair of tensors", "TensorDataset", "Stream"):
        assert isinstance(data_from(GIVEN[kind], "data").data.train, InMemory)


def test_the_types_of_numbers() -> None:
    images, labels = pair()
    for given in ((images.double(), labels.int()), (images.half().float(), labels.to(torch.uint8)[:, None])):
        found, found_labels = data_from((given, given), "data").data.train.take(torch.arange(12))
        assert (found.dtype, found_labels.dtype) == (torch.float32, torch.int64)
    images = torch.arange(12, dtype=torch.uint8)[:, None, None].expand(12, 4, 5)
    data = data_from(((images, labels), (images, labels)), "data").data
    assert (data.shape, data.train.take(torch.tensor([11]))[0].dtype) == ((1, 4, 5), torch.uint8)


@pytest.mark.parametrize("wrap", [lambda *given: given, Mapped])
def test_tables_are_images_of_one_pixel(wrap: Any) -> None:
    given = wrap(torch.tensor([[1.0, 200.0], [3.0, 400.0], [5.0, 900.0]]), torch.tensor([0, 1, 2]))
    data = data_from((given, given), "data").data
    assert data.shape == (2, 1, 1)
    assert data.statistics.mean == pytest.approx((3.0, 500.0))


def test_what_a_user_should_know() -> None:
    assert data_from(GIVEN["Mapped"], "data").notes == ()
    first, second, *_ = data_from(GIVEN["DataLoader of Stream"], "data").notes
    assert first == "only the dataset of the data loader for training is used: the run makes its own batches"
    assert second == "the 12 examples for training were read into memory: 1 MiB"


def test_limits_of_iterable_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless() -> Iterator[Any]:
        while True:
            yield torch.zeros(1, 256, 256), 0  # a quarter of a MiB

    for name, limit, text in (("MOST_READ", 5, "5 examples"), ("MOST_MEMORY", 2**20, "1 MiB")):
        with monkeypatch.context() as patch:
            patch.setattr(parts, name, limit)
            with pytest.raises(NasError) as error:
                data_from((endless(), endless()), "data")
        assert problem(error).message == f"`data` is read into memory, but has more than {text} for training"


def test_data() -> None:
    known = Statistics((0.5,), (0.5,))
    data = Data("mine", InMemory(*pair()), InMemory(*pair(6)), (1, 4, 4), 3, known)
    given = data_from(data, "data")
    assert (given.kind, given.data.name, given.data.statistics) == ("Data", "mine", known)


def broken() -> Iterator[Any]:
    yield torch.rand(1, 4, 4), 0
    raise ValueError("no more")


IMAGES, NUMBERS = pair()
ODD: dict[str, Any] = {
    "is `5`": 5,
    "is a `Mapped`": Mapped(*pair()),
    "is a `TensorDataset`": TensorDataset(*pair()),
    "returned `None`": lambda: None,
    "failed: ZeroDivisionError: division by zero": lambda: 1 / 0,
    "has a `Tensor` as the dataset for training": pair(),
    "has 12 images, but 11 labels for training": ((IMAGES, NUMBERS[1:]), pair()),
    "has 3 tensors for testing, not one of images and one": (pair(), TensorDataset(IMAGES, NUMBERS, NUMBERS)),
    "has images of type int64 for training": ((IMAGES.long(), NUMBERS), pair()),
    "gives images of type float32 and labels of type float32": (pair(), (IMAGES, NUMBERS.float())),
    "has labels of type bool for training": ((IMAGES, NUMBERS > 0), pair()),
    "has a pixel of class -1 for training": ((IMAGES, NUMBERS[:, None, None].expand(12, 4, 4) - 1), pair()),
    "has a pixel of class 300 for training": ((IMAGES, NUMBERS[:, None, None].expand(12, 4, 4) * 0 + 300), pair()),
    "has labels of shape 12x3 for training": ((IMAGES, NUMBERS[:, None].expand(12, 3)), pair()),
    "has images of 1x4x4x1 for training": ((IMAGES[..., None], NUMBERS), pair()),
    "has images of 1x4x4 and of 1x2x4 for testing": (pair(), (IMAGES[:, :, 2:], NUMBERS)),
    "has an array of type object for training": ((np.array([{}]), np.array([1])), pair()),
    "has no examples for testing": (pair(), (IMAGES[:0], NUMBERS[:0])),
    "has pixels that are infinite or not a number in image 0 for testing": (pair(), (IMAGES / 0, NUMBERS)),
    "gives the label -1 to image 0 for training": ((IMAGES, NUMBERS - 1), pair()),
    "gives the label 4 to image 2 for testing, but has 3 classes": (pair(), (IMAGES, NUMBERS * 2)),
    "failed to return examples for training: ValueError: no more": (broken(), pair()),
    "has images of 1x4x4 and of 1x4x5 for testing": (pair(), Stream.__new__(Stream)),
    "has no column that looks like the label": (Rows(*pair(), kind=object()), pair()),
    "has several columns that may be the image": (Rows(*pair(), thumb=Image()), pair()),
}
ODD["has images of 1x4x4 and of 1x4x5 for testing"][1].items = [(IMAGES[0], 0), (torch.rand(1, 4, 5), 1)]


@pytest.mark.parametrize("message", ODD)
def test_what_cannot_be_used(message: str) -> None:
    with pytest.raises(NasError) as error:
        data_from(ODD[message], "data")
    assert problem(error).code == "NAS505"
    assert problem(error).message.startswith(f"`data` {message}")
