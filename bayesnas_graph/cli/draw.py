"""`draw`: a picture of a network, its cells and its choices, or of what a search has left of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from bayesnas_graph.cli.drawing import Drawing, drawing_of, motifs
from bayesnas_graph.cli.target import AllowPython, NetworkName, Parameters
from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest
from bayesnas_graph.diagnostics.atomic_files import exists_error
from bayesnas_graph.language.elaborate import Network

if TYPE_CHECKING:
    from bayesnas_graph.report.pictures import Diagram, Panel, Picture

Format = Literal["svg", "png", "pdf", "dot", "mermaid"]
ENDINGS: dict[str, Format] = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".dot": "dot", ".gv": "dot"}
ENDINGS |= {".mmd": "mermaid", ".mermaid": "mermaid"}
Themed = Literal["auto", "light", "dark"]


def draw(
    file: Annotated[
        Path, typer.Argument(metavar="FILE|RUN", help="A file, the name of a shipped space, or the folder of a run.")
    ],
    network: NetworkName = None,
    param: Parameters = None,
    space: Annotated[bool, typer.Option("--space", help="Of a run: the whole space, not what was found.")] = False,
    cell: Annotated[
        list[str] | None, typer.Option("--cell", metavar="NAME", help="Only the panel of this motif; may be repeated.")
    ] = None,
    figure: Annotated[bool, typer.Option("--figure", help="As a figure for a paper, a file for every panel.")] = False,
    mono: Annotated[bool, typer.Option("--mono", help="A figure in black and white.")] = False,
    theme: Annotated[Themed, typer.Option(help="Light, dark, or as the screen is.")] = "auto",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Where to write; - for standard output.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="svg|png|pdf|dot|mermaid", help="What to write, if OUT does not say it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is already there.")] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Draw a network: its motifs, its cells, and what may stand on each edge; or what a search has left there."""
    wanted = _format(format, output)
    if mono and not figure:
        raise typer.BadParameter("goes with --figure", param_hint="--mono")
    if figure and wanted in ("dot", "mermaid"):
        raise typer.BadParameter(f"a figure is svg, pdf or png, and not {wanted}", param_hint="--figure")
    drawing = drawing_of(file, network, param, whole=space, allow_python=allow_python_ops).only(cell or [])
    path = output or Path(f"{drawing.name}{_ending(wanted)}")
    if figure:
        panels = _named(drawing.diagram.panels, path)
        _refuse(panels.keys(), force=force)
        contents = {at: _figure(panel, drawing.diagram, wanted, theme, mono=mono) for at, panel in panels.items()}
    else:
        _refuse([path], force=force)
        contents = {path: _page(drawing.diagram, wanted, theme)}
    for at, content in contents.items():
        _write(at, content, force=force)


def picture(network: Network, format: Format, theme: Themed = "auto") -> bytes:
    """The network drawn, as the contents of a file."""
    return _page(Drawing.of(network).diagram, format, theme)


def _page(diagram: Diagram, format: Format, theme: Themed) -> bytes:
    """All panels on one page."""
    from bayesnas_graph.report.pictures import Picture, dot_text, lay_out, mermaid_text, svg_text

    if format == "dot":
        return dot_text(diagram).encode()
    if format == "mermaid":
        return mermaid_text(diagram).encode()
    page = lay_out(diagram)
    # Paper and pixels do not change with the screen.
    shown = "light" if theme == "auto" and format != "svg" else theme
    return _file(Picture(svg_text(page, shown), page.width, page.height), format)


def _figure(panel: Panel, diagram: Diagram, format: Format, theme: Themed, *, mono: bool) -> bytes:
    """One panel for a paper. Its ground is that of the paper, unless a theme says which; pixels always have one."""
    from bayesnas_graph.report.pictures import figure_of, ink

    colours = ink(mono=mono, dark=theme == "dark", ground=theme != "auto" or format == "png")
    return _file(figure_of(panel, diagram, colours), format)


def _file(found: Picture, format: Format) -> bytes:
    from bayesnas_graph.report.pictures import converted

    return converted(found, format) if format in ("png", "pdf") else found.svg.encode()


def _named(panels: Iterable[Panel], path: Path) -> dict[Path, Panel]:
    """A file for each panel: that which was asked for if there is one panel, and `NAME-cell.pdf` if there are more."""
    panels = list(panels)
    if len(panels) == 1:
        return {path: panels[0]}
    if str(path) == "-":
        there = ", ".join(f"`{name}`" for name in dict.fromkeys(name for panel in panels for name in motifs(panel)))
        raise typer.BadParameter(
            f"there are {len(panels)} figures: choose one with --cell, of {there}", param_hint="-o"
        )
    found: dict[Path, Panel] = {}
    for panel in panels:
        stem = f"{path.stem}-{motifs(panel)[0]}"
        names = [stem, *(f"{stem}-{number}" for number in range(2, len(panels) + 1))]
        found[next(at for name in names if (at := path.with_name(f"{name}{path.suffix}")) not in found)] = panel
    return found


def _format(given: str | None, output: Path | None) -> Format:
    """What to write: as told, or as the name of the file says."""
    known = get_args(Format)
    if given is not None:
        if given not in known:
            match = nearest(given, known)
            hint = f"; did you mean `{match}`?" if match else f": it is one of {', '.join(known)}"
            raise typer.BadParameter(f"there is no format `{given}`{hint}", param_hint="--format")
        return ENDINGS.get(f".{given}", "svg")
    if output is None or str(output) == "-":
        return "svg"
    found = ENDINGS.get(output.suffix.lower())
    if found is None:
        raise typer.BadParameter(
            f"`{output}` does not say what to write: let it end in {', '.join(ENDINGS)}, or give --format",
            param_hint="-o",
        )
    return found


def _ending(format: Format) -> str:
    return next(ending for ending, other in ENDINGS.items() if other == format)


def _refuse(paths: Iterable[Path], *, force: bool) -> None:
    """Raise NasError for a file that is already there, before anything is drawn."""
    for path in paths:
        if str(path) != "-" and not force and path.exists():
            raise exists_error(path)


def _write(path: Path, content: bytes, *, force: bool) -> None:
    if str(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        with path.open("wb" if force else "xb") as file:
            file.write(content)
    except FileExistsError:
        raise exists_error(path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NasError([Diagnostic("NAS012", f"cannot write `{path}`: {reason}")]) from None
    typer.echo(f"wrote {path}")
