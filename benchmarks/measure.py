"""What several benchmarks measure the same way."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import torch


def now() -> float:
    """Seconds on the clock of the processor, which stands still while it works for others.

    So others may use the machine, too. If torch has several threads, each of them would count its own seconds, and the
    clock on the wall is asked instead.
    """
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


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
