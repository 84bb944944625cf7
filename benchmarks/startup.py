"""Time until a command prints something: `python -m benchmarks.startup`.

Each command runs in a process of its own, and all take turns. The first line is measured by the wall clock, from the
start of the process; then the process is ended. The processor time is that of the process and its threads.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.record import Record
from benchmarks.tables import spread

COMMANDS = {
    "--version": ["--version"],
    "--help": ["--help"],
    "check quickstart": ["check", "quickstart"],
    "check nasnet": ["check", "nasnet"],  # of the shipped spaces, the one that takes longest
    "stats quickstart": ["stats", "quickstart"],
    "search quickstart --data digits": ["search", "quickstart", "--data", "digits", "--display", "plain"],
}


def first_line(words: list[str], folder: Path) -> tuple[float, float]:
    """Seconds until the first line of a command, by the wall clock and of the processor."""
    start, used = time.perf_counter(), _used()
    line = [sys.executable, "-m", "bayesnas_graph", *words]
    with subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None, "it is a pipe"
        assert process.stdout.readline(), f"{words[0]} printed nothing"
        waited = time.perf_counter() - start
        process.kill()
    return waited, _used() - used


def _used() -> float:
    """Processor seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(record: Record) -> str:
    """A row for each command."""
    rows = [[f"`{row['command']}`", spread(row["first line, s"]), spread(row["processor, s"])] for row in record.rows]
    return tables.table(["command", "first line, s (spread)", "processor time, s (spread)"], rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for number in range(options.rounds + 1):  # the first round fills the caches of the file system
        for name, words in COMMANDS.items():
            with TemporaryDirectory() as folder:
                times = first_line(words, Path(folder))
            found[name] += [times] if number else []
    record = Record.begin(options.name, command(), ["command"], settings={"rounds": options.rounds})
    rows = (
        {"command": name, "first line, s": [waited for waited, _ in times], "processor, s": [used for _, used in times]}
        for name, times in found.items()
    )
    finish(record.with_rows(rows), table, options)


if __name__ == "__main__":
    main()
