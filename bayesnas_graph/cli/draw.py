"""`draw`: a picture of a network, its cells and its choices."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from bayesnas_graph.cli.target import AllowPython, NetworkName, Parameters, SpaceFile, load_network
from bayesnas_graph.diagnostics import Diagnostic, NasError, nearest
from bayesnas_graph.elaborate import Network

Format = Literal["svg", "png", "dot", "mermaid"]
ENDINGS: dict[str, Format] = {".svg": "svg", ".png": "png", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid"}
ENDINGS[".mermaid"] = "mermaid"


def draw(
    file: SpaceFile,
    network: NetworkName = None,
    param: Parameters = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Where to write; - for standard output.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="svg|png|dot|mermaid", help="What to write, if OUT does not say it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is already there.")] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Draw a network: its motifs, its cells, and what may stand on each edge."""
    wanted = _format(format, output)
    found = load_network(file, network, param, allow_python=allow_python_ops)
    path = output or Path(f"{found.name}{_ending(wanted)}")
    is_stream = str(path) == "-"
    if not is_stream and not force and path.exists():
        raise _already_there(path)
    content = picture(found, wanted)
    if is_stream:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    _write(path, content, force=force)
    typer.echo(f"wrote {path}")


def picture(network: Network, format: Format) -> bytes:
    """The network drawn, as the contents of a file."""
    from bayesnas_graph.report import NoConverter, diagram_of, dot_text, lay_out, mermaid_text, png_bytes, svg_text

    diagram = diagram_of(network)
    if format == "dot":
        return dot_text(diagram).encode()
    if format == "mermaid":
        return mermaid_text(diagram).encode()
    page = lay_out(diagram)
    svg = svg_text(page)
    if format == "svg":
        return svg.encode()
    try:
        return png_bytes(svg, page.width, page.height)
    except NoConverter as error:
        reason = f" ({error})" if str(error) else ""
        help = "install one of `cairosvg` (with pip), `rsvg-convert` (librsvg2-bin), `inkscape` and `chromium`; or "
        help += "write `.svg`, which every browser shows"
        message = f"there is nothing here that turns SVG into PNG{reason}"
        raise NasError([Diagnostic("NAS012", message, help=help)]) from None


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


def _write(path: Path, content: bytes, *, force: bool) -> None:
    try:
        with path.open("wb" if force else "xb") as file:
            file.write(content)
    except FileExistsError:
        raise _already_there(path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NasError([Diagnostic("NAS012", f"cannot write `{path}`: {reason}")]) from None


def _already_there(path: Path) -> NasError:
    help = "choose another name with `-o`, or replace it with `--force`"
    return NasError([Diagnostic("NAS012", f"`{path}` is already there", help=help)])
