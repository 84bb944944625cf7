"""Files of data sets: where they may lie, and what is said when they are not there or not whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from bayesnas_graph.diagnostics import Diagnostic, NasError


def find(name: str, folders: Iterable[Path], files: Sequence[str], endings: Sequence[str] = ("",)) -> list[Path]:
    """The files of a set, all in the first of some folders that has any of them."""
    folders = list(folders)
    for folder in folders:
        try:
            found = {file: _first(folder, file, endings) for file in files}
        except OSError as error:
            unreadable(folder, error)
        if any(found.values()):
            lacking = [file for file, path in found.items() if path is None]
            if lacking:
                listed = ", ".join(f"`{file}`" for file in lacking)
                verb = "is" if len(lacking) == 1 else "are"
                missing(name, f"{listed} of `{name}` {verb} not in `{folder}`", folders[0].parent)
            return [path for path in found.values() if path]
    missing(name, f"there are no files of `{name}` in `{folders[0]}`", folders[0].parent)


def _first(folder: Path, file: str, endings: Sequence[str]) -> Path | None:
    paths = [folder / f"{file}{ending}" for ending in endings]
    return next((path for path in paths if path.exists()), None)


def missing(name: str, message: str, folder: Path, what: str = "them") -> NoReturn:
    """Say that files of a set are not there, and how to get them."""
    help = f"`bayesnas-graph data get {name} --data-dir {folder}` downloads {what}"
    raise NasError([Diagnostic("NAS502", message, help=help)])


def damaged(name: str, path: Path, problem: str) -> NoReturn:
    """Say what is wrong with a file of a set, and how to get a good one."""
    help = f"remove it and get it again: `bayesnas-graph data get {name} --data-dir DIR`"
    raise NasError([Diagnostic("NAS503", f"`{path}` {problem}", help=help)])


def check_file(name: str, path: Path) -> None:
    """Make sure that there is an ordinary file to read."""
    if path.is_dir():
        damaged(name, path, "is a folder, where a file should be")
    if not path.is_file():
        damaged(name, path, "is not an ordinary file")


def unreadable(path: Path, error: OSError) -> NoReturn:
    """Say that the system does not let us read a file."""
    help = "check who may read the file, and the disk that it is on"
    raise NasError([Diagnostic("NAS503", f"`{path}` cannot be read: {error.strerror or error}", help=help)])
