"""What several benchmarks measure the same way."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path


def peak() -> float:
    """The most memory, in MiB, that this process has had. Linux tells it of the process that it has become."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def printed_by(module: str, *arguments: str) -> float:
    """The number that a benchmark prints last when it is run in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
