"""`data`: the data sets, and their download."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from bayesnas_graph.cli.rich_output import live_console, show_table
from bayesnas_graph.cli.terminal import loading
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.plugins import DATA_PLUGINS, installed_plugins, state_of
from bayesnas_graph.diagnostics.wrapping import whole

if TYPE_CHECKING:
    from bayesnas_graph.data.available import Availability
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
        from bayesnas_graph.data.available import list_datasets

    sets = list_datasets(data_dir)
    rows = [(one.name, "x".join(map(str, one.shape)), f"{one.classes} classes", _state(one, data_dir)) for one in sets]
    named = {one.name for one in sets}
    rows += [(one.name, "any", "any", state_of(one, named)) for one in installed_plugins(DATA_PLUGINS)]
    rows += [
        ("folder:PATH", "any", "any", "images in folders, one folder per class"),
        ("csv:FILE", "table", "any", "a table, with ?target=COLUMN"),
        ("parquet:FILE", "table", "any", "a table, with ?target=COLUMN"),
        ("npz:FILE", "any", "any", "arrays of NumPy"),
        ("hf:NAME", "any", "any", "a dataset of Hugging Face that is on this machine"),
        ("package.module:callable", "any", "any", "a data set returned by your Python code"),
    ]
    show_table(rows)


def _state(one: Availability, folder: Path) -> str:
    if one.has_files:
        get = whole(f"bayesnas-graph data get {one.name}")
        return f"in {one.folder}" if one.is_available else f"not in {folder}: {get}"
    if one.any_shape:
        return "random, in this shape or any other"
    return f"part of scikit-learn, which is {'installed' if one.is_available else 'not installed'}"


@data.command()
def get(
    name: Annotated[str, typer.Argument(help="Data set.")],
    data_dir: DataFolder = DEFAULT_FOLDER,
    mirror: Annotated[str | None, typer.Option(metavar="URL", help="Another web address with the same files.")] = None,
) -> None:
    """Download a data set. Existing files are kept, and interrupted downloads are resumed."""
    from bayesnas_graph.data.available import origin_of
    from bayesnas_graph.data.download import download

    if name.startswith("hf:"):
        from bayesnas_graph.data.hugging_face_hub import download_hugging_face

        if mirror is not None:
            help = "set the environment variable HF_ENDPOINT"
            raise NasError([Diagnostic("NAS506", "datasets of Hugging Face have no mirror", help=help)])
        typer.echo(f"{download_hugging_face(name)} is in the cache of `datasets`")
        return
    origin = origin_of(name)
    try:
        with _progress() as watch:
            for path, fetched in download(origin, data_dir, watch, mirror):
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
