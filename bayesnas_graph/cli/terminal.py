"""What a stream can show: colours, a number of columns, links. Everything that is coloured asks here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from shutil import get_terminal_size
from typing import TextIO

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32"}


def use_color(stream: TextIO) -> bool:
    """Return whether to colour output: on terminals, unless the environment says otherwise.

    `NO_COLOR` turns colours off; `FORCE_COLOR` and `CLICOLOR_FORCE` turn them on also where there is no terminal.
    """
    return not os.environ.get("NO_COLOR") and (_forced() or is_terminal(stream))


def _forced() -> bool:
    """Whether output is to be treated as that on a terminal."""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def text_width(stream: TextIO) -> int | None:
    """Return the columns to wrap text to: `COLUMNS`, or those of the terminal.

    In files and pipes, lines are not wrapped, so that tools find what they look for in one line. `COLUMNS` counts there
    only with `FORCE_COLOR`: it is often set without the user's knowledge, by Python's `readline` among others.
    """
    columns = os.environ.get("COLUMNS", "")
    given = int(columns) if columns.isdecimal() and int(columns) > 0 else None
    if stream.isatty():
        return given or _columns_of(stream)
    return given if _forced() else None


def _columns_of(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return get_terminal_size().columns


def paint(style: str, text: str, stream: TextIO | None = None) -> str:
    """Return a text in a style (`bold`, `dim`, `red` or `green`), if the stream is coloured (default: the output)."""
    if not text or not use_color(sys.stdout if stream is None else stream):
        return text
    return f"\033[{_STYLES[style]}m{text}\033[0m"


def bold(text: str) -> str:
    """A headline, or the number that matters."""
    return paint("bold", text)


def dim(text: str) -> str:
    """A path, or a hint."""
    return paint("dim", text)


def green(text: str) -> str:
    """What was met or succeeded."""
    return paint("green", text)


def red(text: str) -> str:
    """What was missed or failed."""
    return paint("red", text)


def link(path: Path) -> str:
    """Return a path that a terminal opens when it is clicked; elsewhere only the path."""
    if not is_terminal(sys.stdout):
        return str(path)
    return f"\033]8;;{path.resolve().as_uri()}\033\\{path}\033]8;;\033\\"


@contextmanager
def waiting(for_what: str) -> Iterator[None]:
    """Say on a terminal what takes seconds, and remove the line when it is done."""
    if not is_terminal(sys.stderr) or os.environ.get("RANK", "0") != "0":
        yield
        return
    sys.stderr.write(paint("dim", f"{for_what} ...", sys.stderr))
    sys.stderr.flush()
    try:
        yield
    finally:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def loading() -> AbstractContextManager[None]:
    """Wait for imports that load torch."""
    return nullcontext() if "torch" in sys.modules else waiting("loading torch")
