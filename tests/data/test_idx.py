"""MNIST and similar data sets: file locations and damaged files."""

from __future__ import annotations

import gzip
import os
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from bayesnas_graph.data import load
from bayesnas_graph.diagnostics import NasError
from tests.data.files import idx, problem, write_mnist


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("mnist", "mnist"),
        ("mnist", "MNIST/raw"),
        ("mnist", "."),
        ("fashion-mnist", "fashion-mnist"),
        ("fashion-mnist", "FashionMNIST/raw"),
    ],
)
def test_files_are_found_and_read(tmp_path: Path, name: str, place: str, ending: str) -> None:
    images, labels = write_mnist(tmp_path / place, ending=ending)
    data = load(name, tmp_path)
    assert (data.name, data.shape, data.classes) == (name, (1, 28, 28), 10)
    assert (len(data.train), len(data.test)) == (30, 20)
    found, numbers = data.train.take(torch.tensor([7, 3]))
    assert torch.equal(found, torch.from_numpy(images[[7, 3]])[:, None])
    assert numbers.dtype == torch.int64
    assert numbers.tolist() == labels[[7, 3]].tolist()
    assert data.statistics.mean[0] == {"mnist": 0.1307, "fashion-mnist": 0.2860}[name]


def test_files_of_two_folders_are_not_mixed(tmp_path: Path) -> None:
    write_mnist(tmp_path)
    write_mnist(tmp_path / "mnist")
    (tmp_path / "mnist" / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(NasError) as error:
        load("mnist", tmp_path)
    assert problem(error).code == "NAS502"
    assert problem(error).message == f"`t10k-labels-idx1-ubyte` of `mnist` is not in `{tmp_path / 'mnist'}`"


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(NasError) as error:
        load("fashion-mnist", tmp_path / "nowhere")
    assert problem(error).code == "NAS502"
    assert problem(error).help == (
        f"download them with `bayesnas-graph data get fashion-mnist --data-dir {tmp_path / 'nowhere'}`"
    )


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


CLAIM = struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 28, 28)  # a header
IMAGES, LABELS = "train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"
FAULTS: list[tuple[str, str, Callable[[Path], object]]] = [
    (IMAGES, "ends after 3 bytes", lambda path: path.write_bytes(path.read_bytes()[:3])),
    (IMAGES, "ends after 0 bytes", lambda path: path.write_bytes(b"")),
    (IMAGES, "ends after 15 bytes", lambda path: path.write_bytes(path.read_bytes()[:15])),
    (IMAGES, "should hold 23,520 bytes after its header, but holds 23,500", lambda path: cut(path, 20)),
    (IMAGES, "should hold 23,520 bytes after its header, but holds more", lambda path: cut(path, -1)),
    (IMAGES, "is not an IDX file of bytes in 3 dimensions", lambda path: path.write_bytes(b"<html>" * 100)),
    (IMAGES, "is not an IDX file of bytes in 3 dimensions", lambda path: path.write_bytes(idx(np.zeros(3, np.uint8)))),
    (
        IMAGES,
        "holds images of 32x28, not of 28x28",
        lambda path: path.write_bytes(idx(np.zeros((30, 32, 28), np.uint8))),
    ),
    (IMAGES, "claims to hold 4,294,967,295 images", lambda path: path.write_bytes(CLAIM)),
    (IMAGES, "holds images of 4294967295x", lambda path: path.write_bytes(CLAIM[:4] + b"\xff" * 12)),
    (IMAGES, "cannot be read: Is a directory", folder),
    (IMAGES, "cannot be read: not a regular file", pipe),
    (LABELS, "cannot be read: not a regular file", lambda path: link(path, "/dev/zero")),
    (LABELS, "cannot be read: not a regular file", lambda path: link(path, "/proc/self/environ")),
    (LABELS, "holds 19 labels for 20 images", lambda path: path.write_bytes(idx(np.zeros(19, np.uint8)))),
    (LABELS, "holds the label 10, but the largest", lambda path: path.write_bytes(idx(np.full(20, 10, np.uint8)))),
]


def cut(path: Path, count: int) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-count] if count > 0 else content + b"x" * -count)


@pytest.mark.parametrize(("file", "message", "spoil"), FAULTS, ids=[f"{f[:5]}: {m}" for f, m, _ in FAULTS])
def test_damaged_files(tmp_path: Path, file: str, message: str, spoil: Callable[[Path], object]) -> None:
    write_mnist(tmp_path / "mnist")
    spoil(tmp_path / "mnist" / file)
    with pytest.raises(NasError) as error:
        load("mnist", tmp_path)
    assert problem(error).code == "NAS503"
    assert problem(error).message.startswith(f"`{tmp_path / 'mnist' / file}` {message}")


@pytest.mark.parametrize("how", ["no archive", "cut", "bits"])
def test_damaged_archives(tmp_path: Path, how: str) -> None:
    write_mnist(tmp_path / "mnist", ending=".gz")
    path = tmp_path / "mnist" / f"{IMAGES}.gz"
    content = path.read_bytes()
    middle = len(content) // 2
    spoilt = {
        "no archive": b"x" * 100,
        "cut": content[:middle],
        "bits": content[:middle] + b"\0" * 50 + content[middle:],
    }
    path.write_bytes(spoilt[how])
    with pytest.raises(NasError) as error:
        load("mnist", tmp_path)
    assert problem(error).code == "NAS503"
    assert f"`{path}` cannot be decompressed: " in problem(error).message


def test_empty_set(tmp_path: Path) -> None:
    write_mnist(tmp_path / "mnist", train=0)
    with pytest.raises(NasError) as error:
        load("mnist", tmp_path)
    assert "is empty" in problem(error).message


@pytest.mark.parametrize("header", [CLAIM, struct.pack(">HBB3I", 0, 8, 3, 30, 28, 28)])
def test_a_small_archive_that_holds_much(tmp_path: Path, header: bytes) -> None:
    """No more is decompressed than the header says, and no header may say much."""
    write_mnist(tmp_path / "mnist", ending=".gz")
    path = tmp_path / "mnist" / f"{IMAGES}.gz"
    path.write_bytes(gzip.compress(header + bytes(2**26)))
    tracemalloc.start()
    with pytest.raises(NasError) as error:
        load("mnist", tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "claims to hold" in problem(error).message or "but holds more" in problem(error).message
    assert peak < 2**24
