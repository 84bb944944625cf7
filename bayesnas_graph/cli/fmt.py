"""`fmt`: formatting of search spaces."""

from __future__ import annotations

import difflib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.check import Files
from bayesnas_graph.cli.console import show_diagnostics, space_files
from bayesnas_graph.diagnostics import Diagnostic, Report
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
            typer.echo(f"{name}: would be reformatted")
        elif differs:
            write(path, result, name, report)
            typer.echo(f"{name}: reformatted")
    if check and unchanged:
        typer.echo(f"{counted(unchanged, 'file')} already formatted")
    show_diagnostics(report.diagnostics)
    if report.has_errors or (changed and (check or diff)):
        raise typer.Exit(1)


def _difference(source: Source, result: str) -> str:
    before, after = source.text.splitlines(keepends=True), result.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, source.name, f"{source.name}, reformatted"))


def write(path: Path, text: str, name: str, report: Report) -> None:
    """Replace a file in one step, so that a full disk or an interrupt leaves the old one intact."""
    target = real_path(path)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = Path(file.name)
            file.write(text.encode())
        shutil.copymode(target, temporary)
        temporary.replace(target)
        temporary = None
    except OSError as error:
        report.add(Diagnostic("NAS012", f"cannot write `{name}`: {error.strerror}", help="the file is unchanged"))
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
