"""Finding the files of data sets, and errors for missing or damaged ones."""

from __future__ import annotations

import errno
import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from bayesnas_graph.diagnostics import Diagnostic, NasError


def find(name: str, folders: Iterable[Path], files: Sequence[str], endings: Sequence[str] = ("",)) -> list[Path]:
    """Return the files of a data set, from the first folder that has any of them."""
    folders = list(folders)
    for folder in folders:
        try:
            paths = {file: _first(folder, file, endings) for file in files}
        except OSError as error:
            unreadable(folder, error)
        if any(paths.values()):
            lacking = [file for file, path in paths.items() if path is None]
            if lacking:
                listed = ", ".join(f"`{file}`" for file in lacking)
                verb = "is" if len(lacking) == 1 else "are"
                missing(name, f"{listed} of `{name}` {verb} not in `{folder}`", folders[0].parent)
            return [path for path in paths.values() if path]
    missing(name, f"no files of `{name}` in `{folders[0]}`", folders[0].parent)


def _first(folder: Path, file: str, endings: Sequence[str]) -> Path | None:
    paths = [folder / f"{file}{ending}" for ending in endings]
    return next((path for path in paths if path.exists()), None)


def missing(name: str, message: str, folder: Path) -> NoReturn:
    """Raise NasError for missing files; the help says how to download them."""
    help = f"download them with `bayesnas-graph data get {name} --data-dir {folder}`"
    raise NasError([Diagnostic("NAS502", message, help=help)])


def damaged(name: str, path: Path, problem: str) -> NoReturn:
    """Raise NasError for a damaged file."""
    help = f"delete it and download it again with `bayesnas-graph data get {name} --data-dir DIR`"
    raise NasError([Diagnostic("NAS503", f"`{path}` {problem}", help=help)])


@contextmanager
def reading(name: str, path: Path) -> Iterator[None]:
    """Turn the errors of reading a file of a data set into NasError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        damaged(name, path, f"cannot be decompressed: {str(error).lower()}")
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.EINVAL, errno.EFBIG):  # the file is not what it should be
            damaged(name, path, f"cannot be read: {error.strerror}")
        unreadable(path, error)


def unreadable(path: Path, error: OSError) -> NoReturn:
    """Raise NasError for a file that the system cannot read."""
    help = "check the permissions of the file, and the disk"
    raise NasError([Diagnostic("NAS503", f"`{path}` cannot be read: {error.strerror or error}", help=help)])
