"""Check that a change keeps every result byte for byte: emitted source, searches, training and compression runs.

    python -m benchmarks.same_output build/before             # in the checkout as it was
    python -m benchmarks.same_output build/after --against build/before

The first command compiles every shipped space and makes a short run of each kind, all with one thread, in a folder. The
second does the same and lists the files that differ. Times, dates and paths are ignored.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

FIXED = ("darts_v2", "lenet300", "lenet5", "resnet18_cifar")
TIMED = {"seconds"}  # columns
DATED = {"begun", "data_dir", "run", "device", "latency"}  # keys


def cli(*arguments: str | Path, cwd: Path) -> str:
    """The output of a command; exits if it fails."""
    command = [sys.executable, "-m", "bayesnas_graph", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100", "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def make(folder: Path) -> None:
    """Create all files to compare."""
    folder.mkdir(parents=True)
    spaces = sorted(path.stem for path in Path("spaces").glob("*.nas") if path.stem != "std")
    for space in spaces:
        cli("compile", space, "-o", f"compiled/{space}", cwd=folder)
        cli("draw", space, "-o", f"compiled/{space}.mmd", cwd=folder)
    for network in FIXED:
        cli("export", network, "-o", f"exported/{network}.py", cwd=folder)
    one = ("-s", "threads=1", "--display", "plain")
    short = ("-s", "warmup=20", "-s", "steps=20", "-s", "iterations=3", "-s", "finish=10")
    cli("search", "quickstart", "-o", "search", *one, cwd=folder)
    for strategy in ("darts", "dso", "gdas", "magnitude", "proxyless", "random", "snas"):
        cli("search", "quickstart", "-o", strategy, "--strategy", strategy, *one, *short, cwd=folder)
    cli("derive", "search", "-o", "derived", cwd=folder)
    cli("export", "search", "-o", "exported/search.py", "--weights", "exported/search.safetensors", cwd=folder)
    training = ("--data", "digits", "--epochs", "2", "-s", "cutout=2")
    cli("train", "derived/network.nas", "-o", "train", *training, *one, cwd=folder)
    small = ("--epochs", "1", "--loops", "2", "--fine-epochs", "1", "-s", "loop_epochs=1")
    cli("compress", "train", "-o", "compress", *small, *one, cwd=folder)


def digest(path: Path) -> str:
    """A hash of a file without times, dates and paths."""
    if path.suffix == ".csv":
        rows = [line.split(",") for line in path.read_text().splitlines()]
        kept = [i for i, name in enumerate(rows[0]) if name not in TIMED] if rows else []
        text = "\n".join(",".join(row[i] for i in kept) for row in rows).encode()
    elif path.suffix == ".json":
        text = json.dumps(json.loads(path.read_text(), object_hook=undated)).encode()
    else:
        text = path.read_bytes()
    return sha256(text).hexdigest()


def undated(table: dict[str, object]) -> dict[str, object]:
    """A JSON object without times, dates and paths."""
    return {key: value for key, value in table.items() if key not in DATED}


def digests(folder: Path) -> dict[str, str]:
    """The hashes of all files except checkpoints, whose final weights are compared instead."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in {".pt", ".lock"})
    return {str(path.relative_to(folder)): digest(path) for path in files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    if not given.folder.exists():
        make(given.folder)
    found = digests(given.folder)
    if given.against is None:
        print(f"{len(found)} files in {given.folder}")
        return
    before = digests(given.against)
    differing = sorted(name for name in found.keys() | before.keys() if found.get(name) != before.get(name))
    for name in differing:
        print(f"{'differs' if name in found and name in before else 'only in one'}: {name}")
    print(f"{len(before) - len(differing)} of {len(before)} files are the same")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
