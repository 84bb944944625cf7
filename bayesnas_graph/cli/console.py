"""Plain output to the terminal, and the files that a command line names."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import isfinite
from pathlib import Path

import typer

from bayesnas_graph.cli.terminal import dim, green, red, text_width, use_color
from bayesnas_graph.diagnostics import Diagnostic, NasError, render
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.diagnostics.wrapping import wrapped

MOST_SHOWN = 200  # diagnostics


def show_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics to the error stream, if it is not closed; of very many, the first ones."""
    color, width, waiting = use_color(sys.stderr), text_width(sys.stderr), iter(diagnostics)
    with suppress(OSError):
        for diagnostic in islice(waiting, MOST_SHOWN):
            sys.stderr.write(render(diagnostic, color=color, width=width) + "\n")
        more = sum(1 for _ in waiting)
        if more:
            sys.stderr.write(f"... and {more:,} more, not shown\n\n")


def echo(text: str = "", hanging: int | None = None, *, err: bool = False) -> None:
    """Print a text, with its words wrapped if `hanging` is given: the columns that later lines are indented."""
    stream = sys.stderr if err else sys.stdout
    lines = [text] if hanging is None else wrapped(text, text_width(stream), 0, hanging)
    typer.echo("\n".join(lines), err=err, color=use_color(stream))


def say(text: str = "", hanging: int | None = None) -> None:
    """Do as `echo`, for runs: they continue even if their output is closed, and `status` shows their progress."""
    try:
        echo(text, hanging)
    except OSError:
        discard_output()


def discard_output() -> None:
    """Discard further output to a closed pipe or terminal, also when the interpreter exits."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())


def labelled(label: str, text: str) -> str:
    """Return a line with a label; labels are aligned in a column, and so are the lines of a long text.

    >>> labelled("seed", "0")
    'seed           0'
    """
    first, *others = wrapped(text, text_width(sys.stdout), 15)
    return "\n".join([f"{label:<14} {first}", *others])


def note(text: str) -> str:
    """Return a line about something unusual."""
    return "\n".join(wrapped(f"note   {text}", text_width(sys.stdout), 0, 7))


def target(text: str, *, met: bool) -> str:
    """Return a requested size, and whether it was met."""
    return f"{text}: {green('met') if met else red('not met')}"


def hint(purpose: str, command: str) -> None:
    """Print a command to continue with. It is never wrapped, so that it can be copied."""
    say(dim(f"{purpose} with"))
    say(f"  {command}")


def written(paths: Iterable[Path]) -> Iterator[str]:
    """Yield a line for every folder that files were written to: `wrote a.json and b.csv to runs/1`."""
    folders: dict[Path, list[str]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path.name)
    for folder, names in folders.items():
        if len(names) == 1:
            yield f"wrote {dim(str(folder / names[0]))}"
        else:
            where = "" if folder == Path() else f" to {dim(str(folder))}"
            yield f"wrote {', '.join(names[:-1])} and {names[-1]}{where}"


def duration(seconds: float | None) -> str:
    """Return a time to the second.

    >>> duration(750), duration(90061), duration(None)
    ('0:12:30', '25:01:01', '-')
    """
    if seconds is None or not isfinite(seconds):
        return "-"
    minutes, rest = divmod(round(max(0, seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def short_time(seconds: float) -> str:
    """Return the time of a step.

    >>> short_time(0.0042), short_time(0.137), short_time(12.3)
    ('4.2 ms', '137 ms', '12.3 s')
    """
    if seconds < 0.01:
        return f"{1000 * seconds:.1f} ms"
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def resume_command(verb: str, folder: Path, options: Sequence[str] = (), *, allow_python: bool) -> str:
    """Return the command that resumes a run, with further options."""
    words = ["bayesnas-graph", verb, "--resume", str(folder), *options, *(["--allow-python"] if allow_python else [])]
    return shlex.join(words)


def space_files(names: Iterable[Path]) -> list[tuple[Path, str]]:
    """Return the files named on the command line, each with the name to show.

    A folder means all `.nas` files in it. A name that is not a file may be the name of a shipped space.
    """
    files: list[tuple[Path, str]] = []
    for name in names:
        inside = sorted(name.rglob("*.nas")) if name.is_dir() else []
        shipped = shipped_space(str(name)) if not name.is_file() else None
        if inside:
            files += [(path, str(path)) for path in inside]
        elif shipped is not None:
            files.append((shipped, f"<shipped>/{shipped.name}"))
        elif name.is_dir():
            raise NasError([Diagnostic("NAS011", f"no `.nas` file in `{name}`")])
        else:
            files.append((name, str(name)))
    return files
