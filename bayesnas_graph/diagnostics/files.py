"""Files that are either complete or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from bayesnas_graph.diagnostics import Diagnostic, NasError

ROOM = "make room, then go on with `--resume`: the checkpoints are whole"


@contextmanager
def written_whole(path: Path, help: str | None = None) -> Iterator[BinaryIO]:
    """A file to write into. It stands beside the one that it replaces in the end, when all of it is on the disk.

    Whatever happens in between, there is the old file or none. Raises NasError if it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise not_written(path, error, help) from None
    finally:
        with suppress(OSError):  # it is gone if all went well
            part.unlink()


def already_there(path: Path) -> NasError:
    """The error for a file that nobody asked to replace."""
    help = "choose another name with `-o`, or replace it with `--force`"
    return NasError([Diagnostic("NAS012", f"`{path}` is already there", help=help)])


def not_written(path: Path, error: OSError, help: str | None = None) -> NasError:
    """The error for a file that could not be written."""
    return NasError([Diagnostic("NAS012", f"cannot write `{path}`: {_reason(error)}", help=help)])


def not_read(path: Path, error: OSError) -> NasError:
    """The error for a file that could not be read."""
    return NasError([Diagnostic("NAS011", f"cannot read `{path}`: {_reason(error)}")])


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
