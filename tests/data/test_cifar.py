"""CIFAR in its binary version."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from bayesnas_graph.data import load
from bayesnas_graph.data.cifar import CIFAR10, CIFAR100, Version
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem, write_cifar


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
def test_pickles_are_not_read(tmp_path: Path, version: Version) -> None:
    (tmp_path / version.pickled).mkdir()
    with pytest.raises(NasError) as error:
        load(version.name, tmp_path)
    found = problem(error)
    assert found.code == "NAS502"
    assert f"`{tmp_path / version.pickled}` holds pickles" in found.message
    assert found.help
    assert f"data get {version.name}" in found.help
    assert "binary version" in found.help
    write_cifar(version, tmp_path / version.folder)
    assert load(version.name, tmp_path).classes == version.classes
