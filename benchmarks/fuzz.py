"""Random programs by the hundred thousand: `python -m benchmarks.fuzz --programs 200000 --jobs 2`.

Every program is checked, and its diagnostics are rendered. One in five is formatted, and one in ten of those without
errors is compiled to Python. A program may be rejected, but an exception is a failure, and so is a program that takes
longer than `--seconds` of processor time. Failures are printed with the family and seed that make them again. A program
depends on nothing but its seed. With `--save`, counts are added to the record in blocks, and blocks in the record are
not repeated: the benchmark can be interrupted and resumed at any time.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from random import Random

from benchmarks import tables
from benchmarks.record import Record, Row, resumed, save
from tests.fuzzing import FAMILIES, answer, checked, compile_networks

CHUNK = 250  # programs that a process does at a time
BLOCK = 2000  # seeds of every family that are saved at a time
FORMATTED, COMPILED = 5, 10  # one in this many
SHOWN = 20  # failures


class OutOfTime(BaseException):
    """A program took too long. No `except Exception` catches this."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after so much processor time."""

    def stop(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def one(family: str, seed: int) -> Counter[str]:
    """What happened to a program."""
    text = FAMILIES[family](Random(seed))
    space, report = (answer if seed % FORMATTED == 0 else checked)(text)
    if report.has_errors:
        return Counter(programs=1, rejected=1)
    compiled = compile_networks(space) if seed % COMPILED == 0 else 0
    return Counter(programs=1, accepted=1, compiled=compiled)


def chunk(family: str, first: int, last: int, seconds: float) -> tuple[Counter[str], float, list[str]]:
    """The counts of a family for a range of seeds, the time of the slowest program, and the failures."""
    counts: Counter[str] = Counter()
    slowest = 0.0
    failures = []
    for seed in range(first, last):
        start = time.process_time()
        try:
            with limited(seconds):
                counts += one(family, seed)
        except OutOfTime:
            counts += Counter(programs=1, hangs=1)
            failures.append(f"{family}, seed {seed}: more than {seconds:g} s")
        except Exception:
            counts += Counter(programs=1, exceptions=1)
            failures.append(f"{family}, seed {seed}:\n{traceback.format_exc()}")
        slowest = max(slowest, time.process_time() - start)
    return counts, slowest, failures


def run(seeds: range, jobs: int, seconds: float) -> tuple[list[Row], list[str]]:
    """A row for each family, and all failures."""
    total: dict[str, Counter[str]] = {family: Counter() for family in FAMILIES}
    slowest = dict.fromkeys(FAMILIES, 0.0)
    failures: list[str] = []
    work = [
        (family, first, min(first + CHUNK, seeds.stop))
        for first in range(seeds.start, seeds.stop, CHUNK)
        for family in FAMILIES
    ]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        futures = [(family, pool.submit(chunk, family, first, last, seconds)) for family, first, last in work]
        for family, future in futures:
            counts, longest, wrong = future.result()
            total[family] += counts
            slowest[family] = max(slowest[family], longest)
            failures += wrong
            for failure in wrong:
                print(failure, file=sys.stderr, flush=True)
    rows: list[Row] = [
        {"family": family, "first": seeds.start, **counted(total[family]), "slowest, s": slowest[family]}
        for family in FAMILIES
    ]
    return rows, failures


COLUMNS = ("programs", "accepted", "rejected", "compiled", "exceptions", "hangs")


def counted(counts: Counter[str]) -> dict[str, int]:
    return {column: counts[column] for column in COLUMNS}


def table(record: Record) -> str:
    groups = {family: record.where(family=family) for family in record.values("family")} | {"all": list(record.rows)}
    rows = []
    for name, some in groups.items():
        totals = [f"{sum(row[column] for row in some):,}" for column in COLUMNS]
        rows.append([name, *totals, f"{max(row['slowest, s'] for row in some):.2f}"])
    return tables.table(["family", *COLUMNS, "slowest, s"], rows)


def begin(programs: int, seconds: float) -> Record:
    """An empty record."""
    command = f"python -m benchmarks.fuzz --programs {programs}"
    return Record.begin("fuzz", command, ["family", "first"], settings={"seconds": seconds})


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--save", action="store_true", help="add the counts to the record, for the page")
    parser.add_argument("--programs", type=int, default=200_000, help="number of programs of all families")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=60, help="processor time that a program may take")
    options = parser.parse_args(argv)
    record = begin(options.programs, options.seconds)
    if options.save:
        record = resumed(record)
    failures: list[str] = []
    seeds = -(-options.programs // len(FAMILIES))
    for first in range(0, seeds, BLOCK):
        if record.where(first=first):
            continue
        rows, wrong = run(range(first, min(first + BLOCK, seeds)), options.jobs, options.seconds)
        failures += wrong
        record = record.with_rows(rows)
        if options.save:
            save(record)
        done = sum(row["programs"] for row in record.rows)
        print(f"{done:,} programs, {len(failures)} failures", file=sys.stderr, flush=True)
    print(table(record), end="")
    for failure in failures[:SHOWN]:
        print(failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
