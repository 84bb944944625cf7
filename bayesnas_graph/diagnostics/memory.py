"""The memory of this machine: how much there is, and errors when there is not enough."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of containers
_TEXTS = ("can't allocate memory", "not enough memory", "out of memory", "Storage size calculation overflowed")
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}


def available_memory() -> int | None:
    """Return how many bytes this process can still get; None if that is unknown."""
    limits = [_free(), _limit_of_process()]
    for path in _LIMITS:
        with suppress(OSError, ValueError):  # there is no such file, or it says `max`
            limits.append(int(path.read_text()))
    return min((limit for limit in limits if limit is not None), default=None)


def _free() -> int | None:
    """What is free or can be freed, including swap; without `/proc`, all there is."""
    with suppress(OSError, ValueError, KeyError):
        rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        sizes = {row[0]: row[1] for row in rows}
        return (int(sizes["MemAvailable:"]) + int(sizes["SwapFree:"])) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _limit_of_process() -> int | None:
    """What `ulimit -v` allows."""
    if sys.platform == "win32":
        return None
    from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

    limit = getrlimit(RLIMIT_AS)[0]
    return None if limit == RLIM_INFINITY else limit


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory could not be allocated; torch has no type of its own for that on a CPU."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(text in str(error) for text in _TEXTS)
    )


def memory_text(size: int) -> str:
    """A number of bytes as text.

    >>> memory_text(3 * 2**20), memory_text(5 * 2**39), memory_text(10**18)
    ('3.0 MiB', '2.5 TiB', '909,494.7 TiB')
    """
    unit, name = next((unit for unit in ((2**40, "TiB"), (2**30, "GiB")) if size >= unit[0]), (2**20, "MiB"))
    return f"{size / unit:,.1f} {name}"


def parse_memory(text: str) -> int:
    """The number of bytes that a text means. Raises ValueError.

    >>> parse_memory("512MiB"), parse_memory("1.5 GB")
    (536870912, 1500000000)
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([KMGT]i?B|B)", text)
    size = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not size:
        raise ValueError("should be a size such as `512MiB` or `4GiB`")
    return size
