"""CIFAR in its binary version, and in its Python version, which is pickled."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bayesnas_graph.data import load
from bayesnas_graph.data.cifar import CIFAR10, CIFAR100, Version, cifar_files
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem, python2_pickle, write_cifar, write_pickled_cifar


@pytest.mark.parametrize("version", [CIFAR10, CIFAR100], ids=lambda version: version.name)
@pytest.mark.parametrize("place", ["{folder}", "{name}/{folder}", "{name}"])
def test_files_are_found_and_read(tmp_path: Path, version: Version, place: str) -> None:
    records = write_cifar(version, tmp_path / place.format(folder=version.folder, name=version.name))
    data = load(version.name, tmp_path)
    assert (data.shape, data.classes) == ((3, 32, 32), version.classes)
    assert (len(data.train), len(data.test)) == (4 * len(version.train), 4)
    last = records[version.train[-1]][3]
    image, label = data.train.take(torch.tensor([len(data.train) - 1]))
    assert label.item() == last[version.labels - 1]
    assert image[0, 2, 5, 7].item() == last[version.labels + 2 * 1024 + 5 * 32 + 7]
    assert len(data.statistics.mean) == 3


def test_the_fine_labels_are_taken(tmp_path: Path) -> None:
    records = write_cifar(CIFAR100, tmp_path / CIFAR100.folder)["test.bin"]
    records[:, 0], records[:, 1] = 1, 99
    (tmp_path / CIFAR100.folder / "test.bin").write_bytes(records.tobytes())
    assert load("cifar100", tmp_path).test.take(torch.arange(4))[1].tolist() == [99] * 4


def too_large(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3073] = 10
    path.write_bytes(content)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def huge(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(10**12)


FAULTS: list[tuple[str, str, Callable[[Path], object]]] = [
    ("NAS502", "`data_batch_3.bin` of `cifar10` is not in", Path.unlink),
    (
        "NAS503",
        "holds 12,291 bytes, which is not a whole number of images",
        lambda p: p.write_bytes(p.read_bytes()[:-1]),
    ),
    ("NAS503", "holds 0 bytes, which is not a whole number of images", lambda p: p.write_bytes(b"")),
    ("NAS503", "holds the label 10, but the largest should be 9", too_large),
    ("NAS503", "cannot be read: Is a directory", folder),
    ("NAS503", "cannot be read: not a regular file", pipe),
    ("NAS503", "cannot be read: larger than 293 MiB", huge),
]


@pytest.mark.parametrize(("code", "message", "spoil"), FAULTS, ids=[message for _, message, _ in FAULTS])
def test_faulty_files(tmp_path: Path, code: str, message: str, spoil: Callable[[Path], object]) -> None:
    write_cifar(CIFAR10, tmp_path / CIFAR10.folder)
    spoil(tmp_path / CIFAR10.folder / "data_batch_3.bin")
    with pytest.raises(NasError) as error:
        load("cifar10", tmp_path)
    assert problem(error).code == code
    assert message in problem(error).message


@pytest.mark.parametrize("version", [CIFAR10, CIFAR100], ids=lambda version: version.name)
@pytest.mark.parametrize("pickled", [python2_pickle, *(partial(pickle.dumps, protocol=n) for n in (2, 3, 4))])
def test_the_python_version(tmp_path: Path, version: Version, pickled: Callable[[object], bytes]) -> None:
    """Both versions give the same data."""
    folder = tmp_path / "data" / version.pickled.folder
    write_pickled_cifar(version, folder, pickled)
    data = load(version.name, tmp_path / "data")
    assert cifar_files(version, tmp_path / "data")[-1] == folder / version.pickled.test
    (folder / "binary").rename(tmp_path / version.folder)
    other = load(version.name, tmp_path)
    for part in ("train", "test"):
        one, two = (getattr(found, part).take(torch.arange(4)) for found in (data, other))
        assert all(map(torch.equal, one, two))


def test_the_binary_version_comes_first(tmp_path: Path) -> None:
    (tmp_path / CIFAR10.pickled.folder).mkdir()
    with pytest.raises(NasError, match="no files of `cifar10` in"):
        load("cifar10", tmp_path)
    (tmp_path / CIFAR10.pickled.folder / "test_batch").write_bytes(b"")
    with pytest.raises(NasError, match=r"`data_batch_1`, .* of `cifar10` are not in"):
        load("cifar10", tmp_path)
    write_cifar(CIFAR10, tmp_path / CIFAR10.folder)
    assert load("cifar10", tmp_path).classes == 10


class Runs:
    """Its pickle runs a program when Python loads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.makedirs, (str(self.path),)


IMAGES = np.zeros((4, 3072), np.uint8)
CONTENT = {b"data": IMAGES, b"labels": [0, 1, 2, 3]}
PICKLES: dict[str, Any] = {
    "is not read: it names `os.makedirs`": lambda path: {**CONTENT, b"filenames": Runs(path)},
    "is not read: it holds no dictionary": lambda _: [1],
    "is not read: it has an array of other numbers than bytes": lambda _: {**CONTENT, b"data": IMAGES.astype(float)},
    "holds no images of 3x32x32 as `data`": lambda _: {**CONTENT, b"data": IMAGES[:, :-1]},
    "holds no label for each image as `labels`": lambda _: {**CONTENT, b"labels": [0, 1]},
    "holds the label 10, but they should be 0 to 9": lambda _: {**CONTENT, b"labels": [0, 1, 2, 10]},
    "holds the label -1, but": lambda _: {**CONTENT, b"labels": [0, 1, 2, -1]},
    "holds the label b'1', but": lambda _: {**CONTENT, b"labels": [0, 1, 2, b"1"]},
}


@pytest.mark.parametrize("message", PICKLES)
def test_faulty_pickles(tmp_path: Path, message: str) -> None:
    folder, made = tmp_path / CIFAR10.pickled.folder, tmp_path / "made"
    write_pickled_cifar(CIFAR10, folder, python2_pickle)
    (folder / "data_batch_3").write_bytes(python2_pickle(PICKLES[message](made)))
    with pytest.raises(NasError) as error:
        load("cifar10", tmp_path)
    assert problem(error).code == "NAS503"
    assert problem(error).message.startswith(f"`{folder / 'data_batch_3'}` {message}")
    assert not made.exists()
