"""`draw`: a picture of a network with its cells and choices, or of the result of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.architecture_options import GivenSwitches, GivenText, given_architecture
from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.drawing import Drawing, drawing_of, given_drawing, motifs
from bayesnas_graph.cli.network_options import AllowPython, NetworkName, Parameters
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import dim
from bayesnas_graph.diagnostics import nearest
from bayesnas_graph.diagnostics.outputs import write_outputs
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.report.pictures import (
    Diagram,
    Panel,
    Picture,
    converted,
    dot_text,
    figure_of,
    ink,
    lay_out,
    mermaid_text,
    svg_text,
)

Format = Literal["svg", "png", "pdf", "dot", "mermaid"]
ENDINGS: dict[str, Format] = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".dot": "dot", ".gv": "dot"}
ENDINGS |= {".mmd": "mermaid", ".mermaid": "mermaid"}
Themed = Literal["auto", "light", "dark"]


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
    theme: Annotated[Themed, typer.Option(help="Colour theme; auto follows the browser.")] = "auto",
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
    given = given_architecture(architecture, keep)
    if given is None:
        drawing = drawing_of(file, network, param, whole=space, allow_python=allow_python)
    else:
        drawing = given_drawing(file, network, param, given, allow_python=allow_python)
    drawing = drawing.only(cell or [])
    path = output or Path(f"{drawing.name}{_ending(picture_format)}")
    if figure:
        panels = _named(drawing.diagram.panels, path)
        contents = {
            at: _figure(panel, drawing.diagram, picture_format, theme, mono=mono) for at, panel in panels.items()
        }
    else:
        contents = {path: _page(drawing.diagram, picture_format, theme)}
    _write(contents, force=force)


def picture(network: Network, format: Format, theme: Themed = "auto") -> bytes:
    """Return a picture of the network, as the contents of a file."""
    return _page(Drawing.of(network).only([]).diagram, format, theme)


def _page(diagram: Diagram, format: Format, theme: Themed) -> bytes:
    """Return all panels on one page."""
    if format == "dot":
        return dot_text(diagram).encode()
    if format == "mermaid":
        return mermaid_text(diagram).encode()
    page = lay_out(diagram)
    # Only SVG can follow the theme of a browser.
    shown = "light" if theme == "auto" and format != "svg" else theme
    return _file(Picture(svg_text(page, shown), page.width, page.height), format)


def _figure(panel: Panel, diagram: Diagram, format: Format, theme: Themed, *, mono: bool) -> bytes:
    """Return one panel as a figure. Its background is transparent, except in PNG files and where a theme is set."""
    colours = ink(mono=mono, dark=theme == "dark", ground=theme != "auto" or format == "png")
    return _file(figure_of(panel, diagram, colours), format)


def _file(picture: Picture, format: Format) -> bytes:
    return converted(picture, format) if format in ("png", "pdf") else picture.svg.encode()


def _named(panels: Iterable[Panel], path: Path) -> dict[Path, Panel]:
    """Return a file for each panel: `path` if there is one panel, `NAME-cell.pdf` if there are several."""
    panels = list(panels)
    if len(panels) == 1:
        return {path: panels[0]}
    if str(path) == "-":
        motif_names = ", ".join(
            f"`{name}`" for name in dict.fromkeys(name for panel in panels for name in motifs(panel))
        )
        raise typer.BadParameter(
            f"there are {len(panels)} figures; choose one with --cell: {motif_names}", param_hint="-o"
        )
    files: dict[Path, Panel] = {}
    for panel in panels:
        stem = f"{path.stem}-{motifs(panel)[0]}"
        names = [stem, *(f"{stem}-{number}" for number in range(2, len(panels) + 1))]
        files[next(at for name in names if (at := path.with_name(f"{name}{path.suffix}")) not in files)] = panel
    return files


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
    implied = ENDINGS.get(output.suffix.lower())
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
