"""Reading files that anyone may have written: regular files only, and no more of them than expected."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from bayesnas_graph.diagnostics.checksums import checked

LARGEST_JSON = 2**28  # bytes; a decision about 100,000 switches has a tenth of that


def read_file(path: Path, most: int | None = None) -> bytes:
    """Read a regular file. Raises OSError, also for a pipe or a device, or if there are more than `most` bytes.

    Nothing is waited for: opening a pipe that nobody writes to would block.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        content = file.read() if most is None else file.read(most + 1)
        if content and not status.st_size:  # made up by the system, as in /proc
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    if most is not None and len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most // 2**20} MiB", str(path))
    return content


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
