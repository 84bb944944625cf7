"""Small files in the formats of the data sets."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

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


class Python2Pickler(pickle._Pickler):
    """Writes what Python 2 wrote: its texts are bytes."""

    dispatch: ClassVar[dict[type, Any]] = dict(pickle._Pickler.dispatch)

    def save_text(self: Any, text: bytes) -> None:
        short = len(text) < 256
        self.write(b"U" + bytes([len(text)]) + text if short else b"T" + struct.pack("<i", len(text)) + text)
        self.memoize(text)

    dispatch[bytes] = save_text


def python2_pickle(value: object) -> bytes:
    """A pickle as Python 2 wrote it."""
    file = io.BytesIO()
    Python2Pickler(file, protocol=2).dump(value)
    return file.getvalue().replace(b"cnumpy._core.multiarray", b"cnumpy.core.multiarray")


def write_pickled_cifar(version: Version, folder: Path, pickled: Callable[[object], bytes], count: int = 4) -> None:
    """Write files of the Python version, with what `write_cifar` writes."""
    records = write_cifar(version, folder / "binary", count)
    for file, binary in zip((*version.pickled.train, version.pickled.test), records, strict=True):
        images, labels = records[binary][:, version.labels :], records[binary][:, version.labels - 1]
        content = {
            b"batch_label": b"training batch",
            version.pickled.labels.encode(): labels.tolist(),
            b"data": np.asfortranarray(images) if file == version.pickled.test else np.ascontiguousarray(images),
            b"filenames": [b"a.png"] * count,
        }
        (folder / file).write_bytes(pickled(content))


def problem(error: pytest.ExceptionInfo[NasError]) -> Diagnostic:
    """The only diagnostic."""
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.help
    return diagnostic
