"""Atomic writing of files: a file is either complete or absent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from bayesnas_graph.diagnostics import Diagnostic, NasError

FREE_SPACE = "free some disk space, then continue with `--resume`; the checkpoints are intact"


@contextmanager
def atomic_write(path: Path, help: str | None = None) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when everything has been written. Raises NasError if that fails."""
    _check_target(path)
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise write_error(path, error, help) from None
    finally:
        with suppress(OSError):  # already renamed on success
            part.unlink()


def _check_target(path: Path) -> None:
    """Raise NasError for a path that is not the name of a file: a folder, or a device, which would be replaced."""
    with suppress(OSError):  # the reason is known when the file is written
        is_dir = path.is_dir() or not path.name
        if is_dir or (path.exists() and not path.is_file()):
            problem = "it is a folder" if is_dir else "not a regular file"
            raise NasError([Diagnostic("NAS012", f"cannot write `{path}`: {problem}", help="name a file")])


def exists_error(path: Path) -> NasError:
    """The error for a file that must not be overwritten."""
    help = "choose another name with `-o`, or overwrite it with `--force`"
    return NasError([Diagnostic("NAS012", f"`{path}` already exists", help=help)])


def write_error(path: Path, error: OSError, help: str | None = None) -> NasError:
    """The error for a file that could not be written."""
    return NasError([Diagnostic("NAS012", f"cannot write `{path}`: {reason(error)}", help=help)])


def read_error(path: Path, error: OSError) -> NasError:
    """The error for a file that could not be read."""
    return NasError([Diagnostic("NAS011", f"cannot read `{path}`: {reason(error)}")])


def reason(error: OSError) -> str:
    """The reason of the system, in lower case."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
