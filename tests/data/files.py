"""Small files in the formats of the data sets."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bayesnas_graph.data.cifar import Version
from bayesnas_graph.diagnostics import Diagnostic, NasError

Bytes = NDArray[np.uint8]


def idx(array: Bytes) -> bytes:
    """An array in the IDX format."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_mnist(folder: Path, *, ending: str = "", train: int = 30, test: int = 20) -> tuple[Bytes, Bytes]:
    """Write four files in the MNIST format, and return the training images and labels."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    made = {}
    for part, count in (("train", train), ("t10k", test)):
        images = random.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = (np.arange(count) % 10).astype(np.uint8)
        made[part] = (images, labels)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            content = idx(array)
            path = folder / f"{part}-{kind}-ubyte{ending}"
            path.write_bytes(gzip.compress(content) if ending else content)
    return made["train"]


def write_cifar(version: Version, folder: Path, count: int = 4) -> dict[str, Bytes]:
    """Write files with the given number of records, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    records = {}
    for file in (*version.train, version.test):
        records[file] = random.integers(0, 256, (count, version.labels + 3072), dtype=np.uint8)
        records[file][:, : version.labels] %= 10
        (folder / file).write_bytes(records[file].tobytes())
    return records


def problem(error: pytest.ExceptionInfo[NasError]) -> Diagnostic:
    """The only diagnostic."""
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.help
    return diagnostic
