"""Time and memory measurements."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import torch


def now() -> float:
    """CPU seconds, which exclude the time of other processes; wall-clock seconds if torch uses several threads."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def peak() -> float:
    """Peak memory of this process in MiB. On Linux, `VmHWM` excludes the time before `exec`."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def printed_by(module: str, *arguments: str) -> float:
    """The last number that a benchmark prints in a separate process."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
