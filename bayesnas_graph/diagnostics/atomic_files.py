"""Atomic writing of files: a file is either complete or absent."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from bayesnas_graph.diagnostics import Diagnostic, NasError

FREE_SPACE = "free some disk space, then continue with `--resume`; the checkpoints are intact"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: Path, help: str | None = None) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when everything has been written. Raises NasError if that fails.

    Its folder must exist. A link is replaced, not the file it leads to.
    """
    check_target(path)
    part = path.with_name(f".{path.name}.part")
    try:
        with suppress(FileNotFoundError):
            part.unlink()  # left behind by a kill, or a link to anywhere
        with part.open("xb") as file:
            yield file
            file.flush()
            with suppress(OSError):  # there is no such file yet
                shutil.copymode(path, part)
            os.fsync(file.fileno())
            if not _is_at(file, part):
                raise OSError(errno.EBUSY, "another process is writing it", str(path))
        part.replace(path)
    except OSError as error:
        raise write_error(path, error, help) from None
    finally:
        with suppress(OSError):  # already renamed on success
            part.unlink()


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except FileNotFoundError:
        return False


def check_target(path: Path) -> None:
    """Raise NasError for a path that is not the name of a file: a folder, or a device, which would be replaced."""
    try:
        mode = path.stat().st_mode if path.name else stat.S_IFDIR
    except FileNotFoundError:
        return
    except OSError as error:
        raise write_error(path, error) from None
    if not stat.S_ISREG(mode):
        problem = "it is a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise NasError([Diagnostic("NAS012", f"cannot write `{path}`: {problem}", help="name a file")])


def write_error(path: Path, error: OSError, help: str | None = None) -> NasError:
    """The error for a file that could not be written; `help` says what to do if the disk is full."""
    advice = help if error.errno in FULL else None
    return NasError([Diagnostic("NAS012", f"cannot write `{path}`: {reason(error)}", help=advice)])


def read_error(path: Path, error: OSError) -> NasError:
    """The error for a file that could not be read."""
    return NasError([Diagnostic("NAS011", f"cannot read `{path}`: {reason(error)}")])


def reason(error: OSError) -> str:
    """The reason of the system, in lower case."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
