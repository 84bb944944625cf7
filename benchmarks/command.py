"""The command line of benchmarks."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.record import Record, save

PATHS = ("--data-dir", "--runs", "--svg")  # options that take a path


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark, described by the first line of its module."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--save", action="store_true", help="save the record, for the page")
    parser.add_argument("--name", default=Path(sys.argv[0]).stem, help="name of the record")
    return parser


def search_arguments(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark of many searches, which are saved one by one."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--jobs", type=int, default=1, help="parallel searches, each in one thread")
    return parser


def command() -> str:
    """The command of this process, without paths and `--save`."""
    given, relevant = iter(sys.argv[1:]), []
    for word in given:
        option, _, value = word.partition("=")
        if option in PATHS:
            if not value:
                next(given)
        elif word != "--save":
            relevant.append(word)
    return shlex.join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *relevant])


def finish(record: Record, table: Callable[[Record], str], options: argparse.Namespace) -> None:
    """Print the table of a record, and save the record with `--save`."""
    print(table(record), end="")
    if options.save:
        save(record)
