"""MNIST and data sets in its format: IDX files, plain or compressed."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence
from io import BufferedIOBase
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bayesnas_graph.data.checked import shape_text
from bayesnas_graph.data.files import damaged, find, reading
from bayesnas_graph.data.model import InMemory, Shape
from bayesnas_graph.diagnostics.reading import open_file

CLASSES = 10
SIDE = 28
MOST_IMAGES = 1_000_000  # in a file
PIECE = 2**20  # bytes


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
    images = read_idx(name, image_file, (SIDE, SIDE))
    labels = read_idx(name, label_file, ())
    if len(images) != len(labels):
        damaged(name, label_file, f"holds {len(labels):,} labels for {len(images):,} images in `{image_file.name}`")
    if not len(labels):
        damaged(name, label_file, "is empty")
    if int(labels.max()) >= CLASSES:
        damaged(name, label_file, f"holds the label {int(labels.max())}, but the largest should be {CLASSES - 1}")
    return InMemory(images.unsqueeze(1), labels.long())


def read_idx(name: str, path: Path, shape: Shape) -> Tensor:
    """Return the byte tensor in an IDX file, whose items have a shape."""
    dimensions = 1 + len(shape)
    with reading(name, path), open_file(path) as raw, _decompressed(raw, path) as file:
        header = file.read(4 + 4 * dimensions)
        if header[:4] != bytes((0, 0, 8, dimensions))[: len(header)]:
            damaged(name, path, f"is not an IDX file of bytes in {dimensions} dimensions")
        if len(header) < 4 + 4 * dimensions:
            damaged(name, path, f"ends after {len(header)} bytes")
        count, *found = struct.unpack(f">{dimensions}I", header[4:])
        if tuple(found) != shape:
            damaged(name, path, f"holds images of {shape_text(tuple(found))}, not of {shape_text(shape)}")
        if count > MOST_IMAGES:
            damaged(name, path, f"claims to hold {count:,} images, but {MOST_IMAGES:,} is the limit")
        size = count * prod(shape)
        content = _read(file, size + 1)
    if len(content) != size:
        have = f"{len(content):,}" if len(content) < size else "more"
        damaged(name, path, f"should hold {size:,} bytes after its header, but holds {have}")
    return torch.from_numpy(np.frombuffer(content, dtype=np.uint8).reshape(count, *shape))


def _decompressed(file: BufferedIOBase, path: Path) -> BufferedIOBase:
    return gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file


def _read(file: BufferedIOBase, most: int) -> bytearray:
    """Read as many bytes as there are, in pieces: memory for `most` of them is not needed if there are fewer."""
    content = bytearray()
    while len(content) < most and (piece := file.read(min(PIECE, most - len(content)))):
        content += piece
    return content
