"""`data`: the data sets, and their download."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from bayesnas_graph.cli.rich_output import live_console, show_table
from bayesnas_graph.cli.terminal import loading
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.wrapping import whole

if TYPE_CHECKING:
    from bayesnas_graph.data import DataSet
    from bayesnas_graph.data.transfer import Watch

DataFolder = Annotated[
    Path,
    typer.Option("--data-dir", envvar="BAYESNAS_DATA", metavar="DIR", help="Folder of data-set files."),
]
DEFAULT_FOLDER = Path("data")

data = typer.Typer(help="List data sets, or download one.", no_args_is_help=True, add_completion=False)


@data.command("list")
def list_sets(data_dir: DataFolder = DEFAULT_FOLDER) -> None:
    """List the data sets: shape, classes, and whether each is available."""
    with loading():
        from bayesnas_graph.data import DATASETS

    rows = [
        (one.name, "x".join(map(str, one.shape)), f"{one.classes} classes", _state(one, data_dir))
        for one in DATASETS.values()
    ]
    rows += [
        ("folder:PATH", "any", "any", "images in folders, one folder per class"),
        ("csv:FILE", "table", "any", "a table, with ?target=COLUMN"),
        ("parquet:FILE", "table", "any", "a table, with ?target=COLUMN"),
        ("npz:FILE", "any", "any", "arrays of NumPy"),
        ("hf:NAME", "any", "any", "a dataset of Hugging Face that is on this machine"),
        ("package.module:callable", "any", "any", "a data set returned by your Python code"),
    ]
    show_table(rows)


def _state(one: DataSet, folder: Path) -> str:
    if one.find is not None:
        try:
            return f"in {one.find(folder)[0].parent}"
        except NasError:
            return f"not in {folder}: {whole(f'bayesnas-graph data get {one.name}')}"
    if one.any_shape:
        return "random, in this shape or any other"
    return f"part of scikit-learn, which is {'installed' if find_spec('sklearn') else 'not installed'}"


@data.command()
def get(
    name: Annotated[str, typer.Argument(help="Data set.")],
    data_dir: DataFolder = DEFAULT_FOLDER,
    mirror: Annotated[str | None, typer.Option(metavar="URL", help="Another web address with the same files.")] = None,
) -> None:
    """Download a data set. Existing files are kept, and interrupted downloads are resumed."""
    from bayesnas_graph.data.catalogue import ORIGINS
    from bayesnas_graph.data.datasets import DATASETS, unknown_dataset
    from bayesnas_graph.data.download import download

    if name.startswith("hf:"):
        from bayesnas_graph.data.hugging_face_hub import download_hugging_face

        if mirror is not None:
            help = "set the environment variable HF_ENDPOINT"
            raise NasError([Diagnostic("NAS506", "datasets of Hugging Face have no mirror", help=help)])
        typer.echo(f"{download_hugging_face(name)} is in the cache of `datasets`")
        return
    if name not in DATASETS:
        raise unknown_dataset(name)
    if name not in ORIGINS:
        help = f"data sets with files: {', '.join(ORIGINS)}"
        raise NasError([Diagnostic("NAS501", f"nothing to download for `{name}`", help=help)])
    try:
        with _progress() as watch:
            for path, fetched in download(ORIGINS[name], data_dir, watch, mirror):
                typer.echo(f"{'wrote' if fetched else 'already downloaded:'} {path}")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; run the same command again to resume\n")
        raise


@contextmanager
def _progress() -> Iterator[Watch]:
    """Show a bar per file on a terminal, and a line per file elsewhere."""
    if not sys.stderr.isatty():
        seen: set[str] = set()

        def line(file: str, _: int, total: int) -> None:
            if file not in seen:
                seen.add(file)
                sys.stderr.write(f"downloading {file}, {total / 2**20:.1f} MiB\n")

        yield line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with Progress(*columns, console=live_console(sys.stderr), transient=True) as progress:
        bars = {}

        def bar(file: str, received: int, total: int) -> None:
            if file not in bars:
                bars[file] = progress.add_task(file, total=total)
            progress.update(bars[file], completed=received)

        yield bar
