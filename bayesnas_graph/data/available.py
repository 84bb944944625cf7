"""Which data sets there are on this machine, and which can be downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bayesnas_graph.data.catalogue import ORIGINS, DownloadSource
from bayesnas_graph.data.datasets import DATASETS, DataSet, unknown_dataset
from bayesnas_graph.data.model import Shape
from bayesnas_graph.diagnostics import Diagnostic, NasError


@dataclass(frozen=True)
class Availability:
    """A named data set, and whether it can be used as it is."""

    name: str
    shape: Shape  # of an image
    classes: int
    is_available: bool
    folder: Path | None = None  # where its files are, if it has files and they were found
    has_files: bool = False  # which can be downloaded
    any_shape: bool = False  # random images, in this shape or any other


def list_datasets(folder: Path) -> tuple[Availability, ...]:
    """Return the named data sets. The files of those that have some are looked for in a folder."""
    return tuple(_availability(one, folder) for one in DATASETS.values())


def _availability(one: DataSet, folder: Path) -> Availability:
    if one.find is None:
        is_there = one.any_shape or find_spec("sklearn") is not None
        return Availability(one.name, one.shape, one.classes, is_there, any_shape=one.any_shape)
    try:
        found = one.find(folder)[0].parent
    except NasError:
        found = None
    return Availability(one.name, one.shape, one.classes, found is not None, found, has_files=True)


def origin_of(name: str) -> DownloadSource:
    """Return where a data set is downloaded from. Raises NasError if there is none of this name, or no files of it."""
    if name not in DATASETS:
        raise unknown_dataset(name)
    if name not in ORIGINS:
        help = f"data sets with files: {', '.join(ORIGINS)}"
        raise NasError([Diagnostic("NAS501", f"nothing to download for `{name}`", help=help)])
    return ORIGINS[name]
