"""The verb `data`: the named data sets, and their download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.api.arguments import File

if TYPE_CHECKING:
    from bayesnas_graph.data.available import Availability
    from bayesnas_graph.data.transfer import Watch


def data_list(data_dir: File = "data") -> tuple[Availability, ...]:
    """Return the named data sets: shape, classes, and whether each is on this machine.

    Files are looked for in the folder `data_dir`.
    """
    from bayesnas_graph.data.available import list_datasets

    return list_datasets(Path(data_dir))


def data_get(
    name: str, data_dir: File = "data", *, mirror: str | None = None, watch: Watch | None = None
) -> tuple[Path, ...]:
    """Download a named data set to a folder, and return its files. Those that are there already are kept.

    `mirror` is another web address with the same files. `watch` is called as the download goes on, with the name of a
    file, the bytes of it that are there, and all of its bytes. Raises NasError for an unknown data set, and if the
    download fails; the next one continues it.
    """
    from bayesnas_graph.data.available import origin_of
    from bayesnas_graph.data.download import download

    watch = watch or _ignore
    return tuple(path for path, _ in download(origin_of(name), Path(data_dir), watch, mirror))


def _ignore(_file: str, _received: int, _total: int) -> None:
    """Watch nothing."""
