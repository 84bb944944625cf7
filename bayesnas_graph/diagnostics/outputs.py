"""Files that the user asks for. An existing file is replaced only if it would stay the same, or with `--force`.

The files of a run are not written here: a run has a folder of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from unicodedata import category

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import atomic_write, check_target, write_error
from bayesnas_graph.diagnostics.reading import read_file, real_path

FREE_SPACE = "free some disk space; no file was replaced by half of another"
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")  # control characters, bytes that are not UTF-8, ends of lines

Output = tuple[Path, bytes | None]  # a file, and what it will contain if that is known


def check_names(paths: Iterable[Path]) -> None:
    """Raise NasError if one of the paths cannot be that of a regular file, or if two are the same file."""
    seen: dict[Path, Path] = {}
    for path in paths:
        check_name(path)
        check_target(path)
        if (target := real_path(path)) in seen:
            same = seen[target]
            both = f"`{path}`" if same == path else f"`{same}` and `{path}`, which are the same file"
            help = "give every output a name of its own"
            raise NasError([Diagnostic("NAS012", f"two outputs are named {both}", help=help)])
        seen[target] = path


def check_outputs(outputs: Sequence[Output], *, force: bool = False, own: Collection[Path] = ()) -> None:
    """Raise NasError if one of the files must not be written, so that none is: its name is wrong, or it would change.

    Files in `own` are known to be written by this program, and may change. `force` allows all files to.
    """
    check_names(path for path, _ in outputs)
    for path, content in outputs:
        if not force and path not in own and not _stays(path, content):
            help = "choose another name, or replace it with `--force`"
            raise NasError([Diagnostic("NAS012", f"`{path}` already exists", help=help)])


def write_outputs(outputs: Sequence[tuple[Path, bytes]], *, force: bool = False, own: Collection[Path] = ()) -> None:
    """Write files, each completely or not at all, and none if one must not be written. Raises NasError."""
    check_outputs(outputs, force=force, own=own)
    for path, content in outputs:
        with _written(path) as file:
            file.write(content)


@contextmanager
def open_output(path: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that gets its name when everything has been written. Raises NasError, also if it exists."""
    check_outputs([(path, None)], force=force)
    with _written(path) as file:
        yield file


def check_name(path: Path) -> None:
    """Raise NasError for a name that cannot be shown on one line."""
    if any(category(c) in UNPRINTABLE for c in str(path)):
        shown = "".join(ascii(c)[1:-1] if category(c) in UNPRINTABLE else c for c in str(path))
        message = f"cannot write `{shown}`: the name has control characters, or is not UTF-8"
        raise NasError([Diagnostic("NAS012", message, help="choose another name")])


def _stays(path: Path, content: bytes | None) -> bool:
    """Return whether nothing is lost by writing a file."""
    if not path.is_symlink() and not path.exists():
        return True
    try:
        return content is not None and read_file(path, len(content)) == content
    except OSError:
        return False


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from None
    with atomic_write(path, FREE_SPACE) as file:
        yield file
