"""`draw`: a picture of a network with its cells and choices, or of the result of a run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, get_args

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.architecture_options import GivenSwitches, GivenText, given_architecture
from bayesnas_graph.cli.console import echo, show_diagnostics
from bayesnas_graph.cli.network_options import AllowPython, NetworkName, Parameters, parameter_values
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import dim
from bayesnas_graph.diagnostics import nearest
from bayesnas_graph.diagnostics.outputs import write_outputs
from bayesnas_graph.report.drawing import drawing_of, given_drawing, motifs
from bayesnas_graph.report.pictures import Panel, Theme
from bayesnas_graph.report.pictures.files import ENDINGS, Format, format_of


def draw(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|RUN", help="File, shipped space, or folder of a run.", autocompletion=suggestions.spaces
        ),
    ],
    network: NetworkName = None,
    param: Parameters = None,
    architecture: GivenText = None,
    keep: GivenSwitches = None,
    space: Annotated[bool, typer.Option("--space", help="For a run: draw the whole space, not the result.")] = False,
    cell: Annotated[
        list[str] | None, typer.Option("--cell", metavar="NAME", help="Draw only this motif; may be repeated.")
    ] = None,
    figure: Annotated[bool, typer.Option("--figure", help="Draw a figure for a paper, one file per panel.")] = False,
    mono: Annotated[bool, typer.Option("--mono", help="Black and white, for --figure.")] = False,
    theme: Annotated[Theme, typer.Option(help="Colour theme; auto follows the browser.")] = "auto",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="File to write; - for standard output.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="svg, png, pdf, dot or mermaid (default: by ending of OUT)."),
    ] = None,
    force: Force = False,
    allow_python: AllowPython = False,
) -> None:
    """Draw a network: its motifs and cells with the candidates of each edge, or the result of a run."""
    picture_format = _format(format, output)
    if mono and not figure:
        raise typer.BadParameter("use it with --figure", param_hint="--mono")
    if figure and picture_format in ("dot", "mermaid"):
        raise typer.BadParameter(f"a figure can be svg, pdf or png, not {picture_format}", param_hint="--figure")
    given, parameters = given_architecture(architecture, keep), parameter_values(param or ())
    if given is None:
        drawing = drawing_of(file, network, parameters, whole=space, allow_python=allow_python)
    else:
        drawing = given_drawing(file, network, parameters, given, allow_python=allow_python)
    show_diagnostics(drawing.warnings)
    drawing = drawing.only(cell or [])
    path = output or Path(f"{drawing.name}{_ending(picture_format)}")
    if figure:
        _check_one(drawing.diagram.panels, path)
        figures = drawing.figures(picture_format, theme, mono=mono)
        contents = {
            path if len(figures) == 1 else path.with_name(f"{path.stem}-{name}{path.suffix}"): content
            for name, content in figures.items()
        }
    else:
        contents = {path: drawing.page(picture_format, theme)}
    _write(contents, force=force)


def _check_one(panels: Sequence[Panel], path: Path) -> None:
    """Raise BadParameter if there are several figures, and only one can be written."""
    if str(path) == "-" and len(panels) > 1:
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(name for panel in panels for name in motifs(panel)))
        raise typer.BadParameter(f"there are {len(panels)} figures; choose one with --cell: {names}", param_hint="-o")


def _format(wanted: str | None, output: Path | None) -> Format:
    """Return the format to write, from `--format` or the ending of the file."""
    known = get_args(Format)
    if wanted is not None:
        if wanted not in known:
            match = nearest(wanted, known)
            hint = f"; did you mean `{match}`?" if match else f"; choose one of {', '.join(known)}"
            raise typer.BadParameter(f"unknown format `{wanted}`{hint}", param_hint="--format")
        return ENDINGS.get(f".{wanted}", "svg")
    if output is None or str(output) == "-":
        return "svg"
    implied = format_of(output)
    if implied is None:
        raise typer.BadParameter(
            f"`{output}` has no known ending: use {', '.join(ENDINGS)}, or --format",
            param_hint="-o",
        )
    return implied


def _ending(format: Format) -> str:
    return next(ending for ending, other in ENDINGS.items() if other == format)


def _write(contents: Mapping[Path, bytes], *, force: bool) -> None:
    if list(map(str, contents)) == ["-"]:
        sys.stdout.flush()
        sys.stdout.buffer.write(*contents.values())
        sys.stdout.buffer.flush()
        return
    write_outputs(list(contents.items()), force=force)
    for path in contents:
        echo(f"wrote {dim(str(path))}")
