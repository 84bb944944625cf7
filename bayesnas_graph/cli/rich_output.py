"""Output laid out with rich: tables, and consoles for live displays."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO, cast

from rich.console import Console
from rich.table import Table

from bayesnas_graph.cli.console import discard_output
from bayesnas_graph.cli.terminal import bold, text_width, use_color
from bayesnas_graph.diagnostics.wrapping import whole, wrapped


def rich_console() -> Console:
    """Return a console on standard output, 100 columns wide where that is not a terminal."""
    return _console(sys.stdout, text_width(sys.stdout) or 100, terminal=None)


def live_console(stream: TextIO) -> Console:
    """Return a console on a terminal, for displays that must not fail when the terminal is closed."""
    return _console(cast("TextIO", SafeStream(stream)), None, terminal=True)


def _console(stream: TextIO, width: int | None, *, terminal: bool | None) -> Console:
    color = use_color(stream)
    return Console(
        file=stream,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color or terminal,
        highlight=False,
        soft_wrap=False,
    )


GAP = 2  # spaces between columns
LAST = 30  # columns of the last one, for the others to be as wide as they are


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


def show_fields(rows: Iterable[tuple[str, str]], label: int) -> None:
    """Print indented names and values, the values wrapped to the width of the terminal; a name has `label` columns."""
    width = rich_console().width
    for name, value in rows:
        first, *others = wrapped(_whole(value), width, label + 3)
        sys.stdout.write("".join(f"{line}\n" for line in (f"  {name:<{label}} {first}", *others)))


def _whole(text: str) -> str:
    """A text whose assignments and arrays are not wrapped: `depths = [1, 2]`."""
    return re.sub(r"\S+ = (\[[^\]]*\])?", lambda found: whole(found[0]), text)


def show_text(text: str) -> None:
    """Print paragraphs. One with a line that is longer than the terminal is wide is wrapped."""
    width = rich_console().width
    for i, paragraph in enumerate(text.split("\n\n")):
        lines = paragraph.split("\n")
        if any(len(line) > width for line in lines):
            lines = wrapped(" ".join(lines), width)
        sys.stdout.write("\n" * bool(i) + "".join(f"{line}\n" for line in lines))


def show_table(rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows in columns, wrapped to the width of the terminal."""
    sys.stdout.write("".join(f"{line}\n" for line in table_lines(rows, title)))


def table_lines(rows: Iterable[Sequence[str]], title: str = "") -> list[str]:
    """Return rows in columns, wrapped to the width of the terminal, as lines of text."""
    cells, out = list(rows), rich_console()
    heading = [bold(title)] if title else []
    first = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:-1]]
    indent = sum(first) + GAP * len(first)
    if not any("\n" in cell for row in cells for cell in row) and indent + LAST <= out.width:
        return [*heading, *(line for row in cells for line in _row(row, first, out.width - GAP))]
    table = Table(box=None, padding=(0, GAP, 0, 0), show_header=False)
    for row in cells:
        table.add_row(*row)
    with out.capture() as capture:
        out.print(table, markup=False)
    return [*heading, *(line.rstrip() for line in capture.get().splitlines())]


def _row(row: Sequence[str], widths: Sequence[int], width: int) -> list[str]:
    """Return a row as lines: only its last cell is wrapped."""
    start = "".join(cell.ljust(size + GAP) for cell, size in zip(row, widths, strict=False))
    first, *others = wrapped(row[-1], width, len(start))
    return [f"{start}{first}".rstrip(), *others]
