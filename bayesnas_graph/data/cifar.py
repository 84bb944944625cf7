"""CIFAR-10 and CIFAR-100 in the binary version: a sequence of records of label and pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from bayesnas_graph.data.files import damaged, find, missing, reading
from bayesnas_graph.data.model import InMemory
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.reading import read_file

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
MOST_IMAGES = 100_000  # in a file


@dataclass(frozen=True)
class Version:
    """The file layout of one of the two data sets."""

    name: str
    folder: str  # of the binary version
    pickled: str  # folder of the Python version
    train: tuple[str, ...]
    test: str
    labels: int  # bytes before the pixels; the last of them is the label
    classes: int


CIFAR10 = Version(
    name="cifar10",
    folder="cifar-10-batches-bin",
    pickled="cifar-10-batches-py",
    train=tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
    test="test_batch.bin",
    labels=1,
    classes=10,
)
CIFAR100 = Version(
    name="cifar100",
    folder="cifar-100-binary",
    pickled="cifar-100-python",
    train=("train.bin",),
    test="test.bin",
    labels=2,  # the coarse one and the fine one
    classes=100,
)


def cifar_files(version: Version, folder: Path) -> list[Path]:
    """The files of a data set, test file last."""
    places = [folder, folder / version.name]
    folders = [*(place / version.folder for place in places), folder / version.name]
    try:
        return find(version.name, folders, [*version.train, version.test])
    except NasError:
        pickled = next((place / version.pickled for place in places if (place / version.pickled).is_dir()), None)
        if pickled is None:
            raise
        message = f"`{pickled}` holds pickles, which can run arbitrary code when loaded and are not supported"
        missing(version.name, message, folder, "the binary version, which has the same images")


def load_cifar(version: Version, paths: Sequence[Path]) -> tuple[InMemory, InMemory]:
    """Return the training set and the test set."""
    *train, test = paths
    return _examples(version, train), _examples(version, [test])


def _examples(version: Version, paths: Sequence[Path]) -> InMemory:
    records = np.concatenate([_records(version, path) for path in paths])
    images = torch.from_numpy(np.ascontiguousarray(records[:, version.labels :]).reshape(-1, *SHAPE))
    return InMemory(images, torch.from_numpy(records[:, version.labels - 1].astype(np.int64)))


def _records(version: Version, path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    length = version.labels + PIXELS
    with reading(version.name, path):
        content = np.frombuffer(read_file(path, MOST_IMAGES * length), dtype=np.uint8)
    if not len(content) or len(content) % length:
        damaged(version.name, path, f"holds {len(content):,} bytes, which is not a whole number of images")
    records = content.reshape(-1, length)
    largest = int(records[:, version.labels - 1].max())
    if largest >= version.classes:
        damaged(version.name, path, f"holds the label {largest}, but the largest should be {version.classes - 1}")
    return records
