"""MNIST and data sets in its format: IDX files, plain or compressed."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bayesnas_graph.data.files import check_file, damaged, find, unreadable
from bayesnas_graph.data.model import InMemory

CLASSES = 10
SIDE = 28
MAX_BYTES = 2**31  # a file whose header claims more is damaged


def idx_files(name: str, folder: Path, torchvision: str) -> list[Path]:
    """The files of a data set, from its own folder, from torchvision's, or from the data folder itself."""
    folders = [folder / name, folder / torchvision / "raw", folder]
    files = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    return find(name, folders, files, ("", ".gz"))


def load_idx(name: str, paths: Sequence[Path]) -> tuple[InMemory, InMemory]:
    """Return the training set and the test set."""
    train_images, train_labels, test_images, test_labels = paths
    return _examples(name, train_images, train_labels), _examples(name, test_images, test_labels)


def _examples(name: str, image_file: Path, label_file: Path) -> InMemory:
    images = read_idx(name, image_file, dimensions=3)
    labels = read_idx(name, label_file, dimensions=1)
    if images.shape[1:] != (SIDE, SIDE):
        damaged(name, image_file, f"holds images of {images.shape[1]}x{images.shape[2]}, not of {SIDE}x{SIDE}")
    if len(images) != len(labels):
        damaged(name, label_file, f"holds {len(labels):,} labels for {len(images):,} images in `{image_file.name}`")
    if not len(labels):
        damaged(name, label_file, "is empty")
    if int(labels.max()) >= CLASSES:
        damaged(name, label_file, f"holds the label {int(labels.max())}, but the largest should be {CLASSES - 1}")
    return InMemory(images.unsqueeze(1), labels.long())


def read_idx(name: str, path: Path, dimensions: int) -> Tensor:
    """Return the byte tensor in an IDX file."""
    check_file(name, path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            header = file.read(4 + 4 * dimensions)
            if header[:4] != bytes((0, 0, 8, dimensions))[: len(header)]:
                damaged(name, path, f"is not an IDX file of bytes in {dimensions} dimensions")
            if len(header) < 4 + 4 * dimensions:
                damaged(name, path, f"ends after {len(header)} bytes")
            shape = struct.unpack(f">{dimensions}I", header[4:])
            size = prod(shape)
            if size > MAX_BYTES:
                damaged(name, path, f"claims to hold {size:,} bytes")
            content = file.read(size + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        damaged(name, path, f"cannot be decompressed: {str(error).lower()}")
    except OSError as error:
        unreadable(path, error)
    if len(content) != size:
        have = f"{len(content):,}" if len(content) < size else "more"
        damaged(name, path, f"should hold {size:,} bytes after its header, but holds {have}")
    return torch.from_numpy(np.frombuffer(content, dtype=np.uint8).reshape(shape).copy())
