"""Kill runs again and again: `python -m benchmarks.soak --kills 100`.

Searches, trainings, compressions, sweeps (in local processes and on Ray) and searches in two processes are started
with the command line, killed by SIGKILL at random moments, and resumed, until they end. Each must then have the same
files as a run that was never killed: same bytes, except for timings. Of several processes, a kill hits all at once, or
the first one and a moment later the others, or a single one.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch

from bayesnas_graph.diagnostics.checksums import without_trailer
from benchmarks import tables
from benchmarks.record import Record, Row, append

PROGRAM = (sys.executable, "-m", "bayesnas_graph")
PAIR = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
KILLS_PER_RUN = 5
LONGEST = 600.0  # seconds that a process may take to end by itself
TIMINGS = ("seconds", "latency", "minutes", "checksum")  # columns and keys that differ between equal runs
VOLATILE = ("run.json", "sweep.json", "checksums.json", "lock", "*.log", "table.md", "table.csv")
NETWORK = """\
network small : image(1, 8, 8) -> classes(10) {
    in x
    node a = x : conv(8, 3) > bn > relu
    node b = a : conv(8, 3) > bn > relu
    a, b -> out : global_avg_pool > linear(10)
}
"""
SEARCH = ("search", "quickstart", "--warmup", "5", "--steps", "5", "--iterations", "2", "-s", "finish=5")
OFTEN = ("-s", "checkpoint_steps=1", "-s", "log_steps=1", "-s", "threads=1", "--display", "plain")
GRID = ("--sweep", "lambda=0.1,0.3", "--seeds", "2", "--jobs", "2")


@dataclass(frozen=True)
class Kind:
    """A command to kill, and how it is resumed."""

    begin: tuple[str, ...]
    program: tuple[str, ...] = PROGRAM
    resumed_by: tuple[str, ...] = ()  # options besides `--resume`
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def resume(self) -> tuple[str, ...]:
        return (self.begin[0], "--resume", "killed", *self.resumed_by)


KINDS = {
    "search": Kind((*SEARCH, *OFTEN)),
    "train": Kind(("train", "small.nas", "--data", "digits", "--epochs", "2", "-s", "cutout=0", *OFTEN)),
    "compress": Kind(("compress", "small.nas", "--data", "digits", "-s", "loops=2", "-s", "epochs=1", *OFTEN)),
    "sweep": Kind((*SEARCH, *OFTEN, *GRID), resumed_by=("--jobs", "2")),
    "sweep on Ray": Kind((*SEARCH, *OFTEN, *GRID, "--ray"), resumed_by=("--ray",)),
    "search in 2 processes": Kind((*SEARCH, *OFTEN), program=(*PAIR, "-m", "bayesnas_graph")),
}


# ------------------------------------------------------------------------------------------ processes


def family(pid: int) -> list[int]:
    """A process and all its descendants, the oldest first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue  # it has ended
            children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for member in found:
        found += sorted(children.get(member, ()))
    return found


def kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def running(pid: int) -> bool:
    """Whether a process is still there, other than as a zombie."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_all(pids: list[int]) -> None:
    """Wait until none of these processes is running."""
    until = time.monotonic() + LONGEST
    while any(map(running, pids)):
        if time.monotonic() > until:
            raise TimeoutError("a process did not end after it was killed")
        time.sleep(0.02)


def strike(process: subprocess.Popen[bytes], random: Random) -> None:
    """Kill a process with its descendants, in one of three ways, and wait until all have ended."""
    pids = family(process.pid)
    way = random.randrange(3) if len(pids) > 1 else 0
    if way == 0:
        kill(pids)
    elif way == 1:
        kill(pids[:1])
        time.sleep(random.uniform(0, 0.5))
        kill(pids[1:])
    else:
        kill([random.choice(pids[1:])])
        try:
            process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            kill(family(process.pid))
            raise TimeoutError("the others did not end after one process was killed") from None
        kill(pids)
    process.wait(LONGEST)
    wait_for_all(pids)


# ------------------------------------------------------------------------------------------- files


def contents(run: Path) -> dict[str, object]:
    """What must be equal in two runs, by file."""
    return {
        str(path.relative_to(run)): content(path, str(run))
        for path in sorted(run.rglob("*"))
        if path.is_file() and not any(path.match(pattern) for pattern in VOLATILE)
    }


def content(path: Path, run: str) -> object:
    """A file without timings, and without the path of its run, by which the searches of a sweep name their space."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return [{name: cell for name, cell in row.items() if name not in TIMINGS} for row in csv.DictReader(file)]
    if path.suffix == ".json":
        return without_timings(json.loads(path.read_text().replace(run, "RUN")))
    if path.suffix == ".pt":
        return plain(torch.load(BytesIO(without_trailer(path.read_bytes())), weights_only=True), run)
    return path.read_bytes()


def without_timings(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_timings(inner) for key, inner in value.items() if key not in TIMINGS}
    return [without_timings(inner) for inner in value] if isinstance(value, list) else value


def plain(value: Any, run: str = "") -> object:
    """Tensors as bytes, so that equality is bitwise, and texts without the path of the run."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.contiguous().numpy().tobytes()
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if key != "first_loss"}  # a mean since the last start
        return {key: plain(inner, run) for key, inner in kept.items()}
    if isinstance(value, str) and run:
        return value.replace(run, "RUN")
    return [plain(inner, run) for inner in value] if isinstance(value, list | tuple) else value


def differences(one: Path, other: Path) -> list[str]:
    """The files that differ between two runs."""
    mine, theirs = contents(one), contents(other)
    return sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))


# ------------------------------------------------------------------------------------------- soaking


@dataclass
class Soak:
    """Kills runs of one kind in a folder."""

    kind: Kind
    folder: Path
    random: Random
    whole: float = 0.0  # seconds of a run that is not killed

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **self.kind.environment}
        with (self.folder / "output.log").open("ab") as log:
            command = [*self.kind.program, *words]
            return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)

    def calm(self) -> None:
        """A run that is not killed, to compare with."""
        start = time.monotonic()
        code = self.start(*self.kind.begin, "-o", "calm").wait()
        if code:
            raise RuntimeError(f"exit code {code}:\n{(self.folder / 'output.log').read_text()[-2000:]}")
        self.whole = time.monotonic() - start

    def once(self, kills: int) -> tuple[int, list[str]]:
        """Start a run, kill it at most so many times, and return the number of kills and the files that differ."""
        shutil.rmtree(self.folder / "killed", ignore_errors=True)
        (self.folder / "output.log").unlink(missing_ok=True)
        done = 0
        while True:
            existing = any((self.folder / "killed" / name).is_file() for name in ("run.json", "sweep.json"))
            process = self.start(*(self.kind.resume if existing else (*self.kind.begin, "-o", "killed")))
            if done == kills:
                break
            try:
                process.wait(self.random.uniform(0.1, 1) * self.whole)
                break
            except subprocess.TimeoutExpired:
                strike(process, self.random)
                done += 1
                if not existing and not (self.folder / "killed" / "run.json").exists():
                    shutil.rmtree(self.folder / "killed", ignore_errors=True)  # killed before there was anything
        code = process.wait()
        if code:
            return done, [f"exit code {code}: {(self.folder / 'output.log').read_text()[-2000:]}"]
        return done, differences(self.folder / "calm", self.folder / "killed")


def soak(name: str, kills: int, seed: int, say: Callable[[str], None]) -> Row:
    """Kill runs of a kind until there were so many kills."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "small.nas").write_text(NETWORK)
        work = Soak(KINDS[name], Path(folder), Random(f"{name} {seed}"))
        work.calm()
        runs = equal = done = 0
        for _ in rounds(kills):
            count, wrong = work.once(min(KILLS_PER_RUN, kills - done))
            done += count
            runs += 1
            equal += not wrong
            say(f"{name}: {done} of {kills} kills, {equal} of {runs} runs equal")
            for difference in wrong:
                say(f"{name}, run {runs}: {difference}")
            if done >= kills:
                break
    return {"kind": name, "kills": done, "runs": runs, "equal": equal}


def rounds(kills: int) -> Iterator[int]:
    """More than enough: a run may end before its first kill."""
    yield from range(3 * kills + 3)


def begin(kills: int, seed: int) -> Record:
    """An empty record."""
    command = f"python -m benchmarks.soak --kills {kills}"
    return Record.begin("soak", command, ["kind"], seeds=(seed,), settings={"kills": kills})


def table(record: Record) -> str:
    rows = [
        [row["kind"], f"{row['kills']:,}", f"{row['runs']:,}", f"{row['equal']:,} of {row['runs']:,}"]
        for row in record.rows
    ]
    return tables.table(["what was killed", "SIGKILLs", "runs", "equal to a run that was not killed"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--save", action="store_true", help="add the results to the record, for the page")
    parser.add_argument("--kills", type=int, default=100, help="of each kind")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    record = begin(options.kills, options.seed)
    for name in options.kind or KINDS:
        row = soak(name, options.kills, options.seed, say)
        record = record.with_rows([row])
        if options.save:
            append(begin(options.kills, options.seed), row)
    print(table(record), end="")
    sys.exit(0 if all(row["equal"] == row["runs"] for row in record.rows) else 1)


if __name__ == "__main__":
    main()
