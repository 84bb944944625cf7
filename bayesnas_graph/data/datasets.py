"""The named data sets, and loading of any data by its specification."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from torch import Tensor

from bayesnas_graph.data.cifar import CIFAR10, CIFAR100, Version, cifar_files, load_cifar
from bayesnas_graph.data.content import Part, checked, look_at
from bayesnas_graph.data.csv_table import load_csv
from bayesnas_graph.data.custom import load_custom
from bayesnas_graph.data.digits import load_digits
from bayesnas_graph.data.folder import load_folder
from bayesnas_graph.data.given import data_from
from bayesnas_graph.data.hugging_face_hub import load_hugging_face
from bayesnas_graph.data.idx import idx_files, load_idx
from bayesnas_graph.data.model import Data, InMemory, Shape, Statistics
from bayesnas_graph.data.normalisation import statistics
from bayesnas_graph.data.npz import load_npz
from bayesnas_graph.data.parquet_table import load_parquet
from bayesnas_graph.data.shapes import load_shapes
from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest
from bayesnas_graph.diagnostics.plugins import DATA_PLUGINS, find_plugin, installed_plugins, load_plugin

DEFAULT_SHAPE = (3, 32, 32)  # of images that can have any shape


@dataclass(frozen=True)
class DataSet:
    """A named data set."""

    name: str
    shape: Shape
    classes: int
    read: Callable[[Path, Shape, int], tuple[InMemory, InMemory]]  # data folder, shape, seed -> training and test
    find: Callable[[Path], list[Path]] | None = None  # its files in a data folder; None if it needs no files
    statistics: Statistics | None = None  # computed if None
    any_shape: bool = False


def _idx(name: str, torchvision: str, known: Statistics) -> DataSet:
    find = partial(idx_files, name, torchvision=torchvision)

    def read(folder: Path, _: Shape, __: int) -> tuple[InMemory, InMemory]:
        return load_idx(name, find(folder))

    return DataSet(name, (1, 28, 28), 10, read, find, known)


def _cifar(version: Version, known: Statistics) -> DataSet:
    find = partial(cifar_files, version)

    def read(folder: Path, _: Shape, __: int) -> tuple[InMemory, InMemory]:
        return load_cifar(version, folder)

    return DataSet(version.name, (3, 32, 32), version.classes, read, find, known)


DATASETS: Mapping[str, DataSet] = {
    dataset.name: dataset
    for dataset in (
        DataSet("digits", (1, 8, 8), 10, lambda _, __, ___: load_digits()),
        DataSet("shapes", DEFAULT_SHAPE, 10, lambda _, shape, seed: load_shapes(shape, seed), any_shape=True),
        _idx("mnist", "MNIST", Statistics((0.1307,), (0.3081,))),
        _idx("fashion-mnist", "FashionMNIST", Statistics((0.2860,), (0.3530,))),
        _cifar(CIFAR10, Statistics((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))),
        _cifar(CIFAR100, Statistics((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762))),
    )
}


READERS: Mapping[str, Callable[[str], Data]] = {"csv": load_csv, "npz": load_npz, "parquet": load_parquet}


def load(spec: str, folder: Path, *, image_shape: Shape | None = None, seed: int = 0) -> Data:
    """Load a named data set, that of a plug-in, files as `csv:FILE`, or `package.module:callable`. Raises NasError.

    The files of named data sets are in `folder`. Data without a fixed image shape use `image_shape`.

    >>> load("shapes", Path("data"), image_shape=(1, 8, 8)).shape
    (1, 8, 8)
    """
    kind, colon, rest = spec.partition(":")
    if colon and kind == "folder":
        return load_folder(Path(rest).expanduser(), image_shape or DEFAULT_SHAPE)
    if colon and kind == "hf":
        return load_hugging_face(spec, image_shape)
    if colon and kind in READERS:
        return READERS[kind](spec)
    if colon:
        return load_custom(spec)
    if spec not in DATASETS:
        plugin = find_plugin(DATA_PLUGINS, spec)
        if plugin is None:
            raise unknown_dataset(spec)
        return data_from(load_plugin(plugin), spec).data
    chosen = DATASETS[spec]
    shape = chosen.shape
    if chosen.any_shape and image_shape is not None and len(image_shape) == 3:
        shape = image_shape
    train, test = chosen.read(folder, shape, seed)
    data = Data(spec, train, test, shape, chosen.classes, chosen.statistics or statistics(train))
    seen_train, seen_test = (look_at(part, all=True)[0] for part in (train, test))
    labels: dict[Part, Tensor] = {"training": train.labels, "testing": test.labels}
    return checked(data, {"training": seen_train, "testing": seen_test}, labels)


def unknown_dataset(name: str) -> NasError:
    """The error for an unknown data set."""
    known = dict.fromkeys((*DATASETS, *(plugin.name for plugin in installed_plugins(DATA_PLUGINS))))
    match = nearest(name, known)
    choices = f"use {', '.join(known)}, or your own data as `folder:PATH`, `csv:FILE` or `package.module:callable`"
    help = f"did you mean `{match}`?" if match else choices
    return NasError([Diagnostic("NAS501", f"unknown data set `{name}`", help=help)])
