"""`data`: which data sets there are, and how to get them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.console import show_table
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.data import DataSet
    from bayesnas_graph.data.transfer import Watch

DataFolder = Annotated[
    Path,
    typer.Option("--data-dir", envvar="BAYESNAS_DATA", metavar="DIR", help="Where the files of data sets lie."),
]
DEFAULT_FOLDER = Path("data")

data = typer.Typer(help="List the data sets, or get the files of one.", no_args_is_help=True, add_completion=False)


@data.command("list")
def list_sets(data_dir: DataFolder = DEFAULT_FOLDER) -> None:
    """List the data sets: shape, classes, and whether all that each needs is here."""
    from bayesnas_graph.data import DATASETS

    rows = [
        (one.name, "x".join(map(str, one.shape)), f"{one.classes} classes", _state(one, data_dir))
        for one in DATASETS.values()
    ]
    rows += [
        ("folder:PATH", "any", "any", "images in folders, one for each class"),
        ("package.module:callable", "any", "any", "what your own Python code returns"),
    ]
    show_table(rows)


def _state(one: DataSet, folder: Path) -> str:
    if one.find is not None:
        try:
            return f"in {one.find(folder)[0].parent}"
        except NasError:
            return f"not in {folder}: bayesnas-graph data get {one.name}"
    if one.any_shape:
        return "drawn when it is needed, in this shape or another"
    return f"comes with scikit-learn, {'which is here' if find_spec('sklearn') else 'which is missing'}"


@data.command()
def get(
    name: Annotated[str, typer.Argument(help="A data set.")],
    data_dir: DataFolder = DEFAULT_FOLDER,
    mirror: Annotated[
        str | None, typer.Option(metavar="URL", help="Another place on the web that has the same files.")
    ] = None,
) -> None:
    """Download the files of a data set. What is there already stays, and what was interrupted is gone on with."""
    from bayesnas_graph.data.catalogue import ORIGINS
    from bayesnas_graph.data.datasets import DATASETS, unknown_dataset
    from bayesnas_graph.data.download import download

    if name not in DATASETS:
        raise unknown_dataset(name)
    if name not in ORIGINS:
        help = f"it has no files; sets with files are {', '.join(ORIGINS)}"
        raise NasError([Diagnostic("NAS501", f"there is nothing to download for `{name}`", help=help)])
    try:
        with _progress() as watch:
            for path, fetched in download(ORIGINS[name], data_dir, watch, mirror):
                typer.echo(f"{'wrote' if fetched else 'already there:'} {path}")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command goes on where it stopped\n")
        raise


@contextmanager
def _progress() -> Iterator[Watch]:
    """A bar for each file on a terminal, else a line for each."""
    if not sys.stderr.isatty():
        seen: set[str] = set()

        def line(file: str, _: int, total: int | None) -> None:
            if file not in seen:
                seen.add(file)
                sys.stderr.write(f"downloading {file}{f', {total / 2**20:.1f} MiB' if total else ''}\n")

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars = {}

        def bar(file: str, so_far: int, total: int | None) -> None:
            if file not in bars:
                bars[file] = progress.add_task(file, total=total)
            progress.update(bars[file], completed=so_far, total=total)

        yield bar
