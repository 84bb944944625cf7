"""`fmt`: formatting of search spaces."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.check import Files
from bayesnas_graph.cli.console import echo, show_diagnostics, space_files
from bayesnas_graph.cli.terminal import green, red
from bayesnas_graph.diagnostics import NasError, Report
from bayesnas_graph.diagnostics.atomic_files import atomic_write
from bayesnas_graph.diagnostics.reading import read_file, real_path
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.language.elaborate import read
from bayesnas_graph.language.syntax import format_source


def fmt(
    files: Files,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show what would change.")] = False,
) -> None:
    """Format files. Comments and meaning are preserved."""
    report = Report()
    changed = unchanged = 0
    for path, name in space_files(files):
        source = Source("<stdin>", sys.stdin.read()) if name == "-" else read(path, name, report)
        if source is None:
            continue
        result = format_source(source, report)
        if result is None:
            continue
        differs = name != "-" and result.encode() != read_file(path)
        changed += differs
        unchanged += not differs
        if diff:
            typer.echo(_difference(source, result), nl=False)
        elif name == "-":
            typer.echo(result, nl=False)
        elif differs and check:
            echo(f"{name}: {red('would be reformatted')}")
        elif differs and _write(path, result, report):
            echo(f"{name}: {green('reformatted')}")
    if check and unchanged:
        typer.echo(f"{counted(unchanged, 'file')} already formatted")
    show_diagnostics(report.diagnostics)
    if report.has_errors or (changed and (check or diff)):
        raise typer.Exit(1)


def _difference(source: Source, result: str) -> str:
    before, after = source.text.splitlines(keepends=True), result.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, source.name, f"{source.name}, reformatted"))


def _write(path: Path, text: str, report: Report) -> bool:
    """Replace a file in one step; return False, with a diagnostic, if that fails and the file is unchanged."""
    try:
        with atomic_write(real_path(path), "free some disk space; the file is unchanged") as file:
            file.write(text.encode())
    except NasError as error:
        for diagnostic in error.diagnostics:
            report.add(diagnostic)
        return False
    return True
