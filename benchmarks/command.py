"""What all benchmarks have in common on the command line."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.record import Record, save

PLACES = ("--data-dir", "--runs", "--svg")  # options that say where something is


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """A parser for a benchmark, described by the first line of its module."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--save", action="store_true", help="keep the result for the page")
    parser.add_argument("--name", default=Path(sys.argv[0]).stem, help="under which it is kept")
    return parser


def searching(doc: str | None) -> argparse.ArgumentParser:
    """A parser for a benchmark of many searches, which are kept one by one."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--jobs", type=int, default=1, help="searches at a time, each in one thread")
    return parser


def command() -> str:
    """The command that this process was started by, without what makes no difference: places, and whether to save."""
    given, left = iter(sys.argv[1:]), []
    for word in given:
        option, _, value = word.partition("=")
        if option in PLACES:
            if not value:
                next(given)
        elif word != "--save":
            left.append(word)
    return shlex.join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *left])


def finish(record: Record, table: Callable[[Record], str], options: argparse.Namespace) -> None:
    """Print the table of a record, and keep the record if that was asked for."""
    print(table(record), end="")
    if options.save:
        save(record)
