"""Reading files that anyone may have written: regular files only, and no more of them than expected."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from bayesnas_graph.diagnostics.checksums import checked

LARGEST_JSON = 2**28  # bytes; a decision about 100,000 switches has a tenth of that


@contextmanager
def open_file(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file for reading. Raises OSError, also for a folder, a pipe, a device, or a file in `/proc`.

    Nothing is waited for: opening a pipe that nobody writes to would block.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        made_up = not status.st_size  # by the system, as in /proc, if there is something to read
        if not stat.S_ISREG(status.st_mode) or (made_up and os.read(descriptor, 1)):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def read_file(path: Path, most: int | None = None) -> bytes:
    """Read a regular file. Raises OSError, also for what `open_file` refuses, or for more than `most` bytes."""
    with open_file(path) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most // 2**20} MiB", str(path))
        return file.read()


def real_path(path: Path) -> Path:
    """The path without links; a link that leads to itself stays as it is, and cannot be read."""
    return Path(os.path.realpath(path))


def read_json(path: Path) -> Any:
    """Read a JSON file; its checksum is checked and removed, if it has one.

    Raises OSError, or ValueError if it is not JSON, is nested too deeply, has NaN in it, or has changed.
    """
    return checked(parse_json(read_file(path, LARGEST_JSON)))


def parse_json(content: bytes | str) -> Any:
    """Parse JSON. Raises ValueError if it is not JSON, is nested too deeply, or has infinities or NaN in it."""
    try:
        return json.loads(content, parse_constant=_reject)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _reject(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
