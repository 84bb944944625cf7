"""Where output goes and how it looks: colours on a terminal, plain text in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest, render
from bayesnas_graph.diagnostics.resources import shipped_space, shipped_spaces

if TYPE_CHECKING:
    from rich.console import Console


def use_color(stream: TextIO) -> bool:
    """Colour on terminals, unless the environment says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def show_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics to the error stream."""
    color = use_color(sys.stderr)
    for diagnostic in diagnostics:
        sys.stderr.write(render(diagnostic, color=color) + "\n")


def say(text: str) -> None:
    """Print a line. A run continues when nobody reads its output any more: `status` shows its progress."""
    try:
        typer.echo(text)
    except OSError:
        discard_output()


def discard_output() -> None:
    """Discard further output to a closed pipe or terminal, also when the interpreter exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def labelled(label: str, text: str) -> str:
    """Return a line with a label; labels are aligned in a column.

    >>> labelled("seed", "0")
    'seed           0'
    """
    return f"{label:<14} {text}"


def note(text: str) -> str:
    """Return a line about something unusual."""
    return f"note   {text}"


def console() -> Console:
    """Rich output; loaded only where something is laid out, for it takes time to import."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 100
    return Console(width=width, no_color=not use_color(sys.stdout), highlight=False, soft_wrap=False)


def show_table(rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows in columns, the last of them wrapped to the width of the terminal."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for row in rows:
        table.add_row(*row)
    out = console()
    with out.capture() as capture:
        if title:
            out.print(title, style="bold", markup=False)
        out.print(table, markup=False)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def space_files(names: Iterable[Path]) -> list[tuple[Path, str]]:
    """The files meant on the command line, each with the name it is shown by.

    A folder stands for all `.nas` files in it. A name that is no file may be that of a shipped space.
    """
    found: list[tuple[Path, str]] = []
    for name in names:
        inside = sorted(name.rglob("*.nas")) if name.is_dir() else []
        shipped = shipped_space(str(name)) if not name.is_file() else None
        if inside:
            found += [(path, str(path)) for path in inside]
        elif shipped is not None:
            found.append((shipped, f"<shipped>/{shipped.name}"))
        elif name.is_dir():
            raise NasError([Diagnostic("NAS011", f"there is no `.nas` file in `{name}`")])
        else:
            found.append((name, str(name)))
    return found


def unknown_space(name: str) -> NasError:
    """The error for a name that no shipped space has."""
    known = [path.stem for path in shipped_spaces()]
    match = nearest(name.removesuffix(".nas"), known)
    help = f"did you mean `{match}`?" if match else f"there are {', '.join(known)}"
    return NasError([Diagnostic("NAS011", f"there is no shipped space `{name}`", help=help)])
