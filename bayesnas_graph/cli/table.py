"""Tables, and other output laid out with rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from bayesnas_graph.cli.console import use_color


def rich_console() -> Console:
    """Return a console on standard output, 100 columns wide where that is not a terminal."""
    width = None if sys.stdout.isatty() else 100
    return Console(width=width, no_color=not use_color(sys.stdout), highlight=False, soft_wrap=False)


def show_table(rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows in columns, wrapped to the width of the terminal."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for row in rows:
        table.add_row(*row)
    out = rich_console()
    with out.capture() as capture:
        if title:
            out.print(title, style="bold", markup=False)
        out.print(table, markup=False)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))
