"""Output laid out with rich: tables, and consoles for live displays."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TextIO, cast

from rich.console import Console
from rich.table import Table

from bayesnas_graph.cli.console import discard_output, use_color


def rich_console() -> Console:
    """Return a console on standard output, 100 columns wide where that is not a terminal."""
    width = None if sys.stdout.isatty() else 100
    return Console(width=width, no_color=not use_color(sys.stdout), highlight=False, soft_wrap=False)


def live_console(stream: TextIO) -> Console:
    """Return a console on a terminal, for displays that must not fail when the terminal is closed."""
    file = cast("TextIO", SafeStream(stream))
    return Console(file=file, no_color=not use_color(stream), highlight=False, force_terminal=True)


class SafeStream:
    """A stream whose writes do not fail when the terminal is closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            discard_output()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            discard_output()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


def show_table(rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows in columns, wrapped to the width of the terminal."""
    sys.stdout.write("".join(f"{line}\n" for line in table_lines(rows, title)))


def table_lines(rows: Iterable[Sequence[str]], title: str = "") -> list[str]:
    """Return rows in columns, wrapped to the width of the terminal, as lines of text."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for row in rows:
        table.add_row(*row)
    out = rich_console()
    with out.capture() as capture:
        if title:
            out.print(title, style="bold", markup=False)
        out.print(table, markup=False)
    return [line.rstrip() for line in capture.get().splitlines()]
