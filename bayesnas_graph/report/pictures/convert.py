"""Convert SVG to PNG and PDF with any available tool."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bayesnas_graph.diagnostics import Diagnostic, NasError

Kind = Literal["png", "pdf"]

SCREEN = 2.0  # pixels per unit: sharp on current screens
PRINT = 300 / 96  # pixels per unit on paper
POINTS = 72 / 96  # points per pixel
SECONDS = 120  # time limit of a converter


@dataclass(frozen=True)
class Picture:
    """An SVG, its size in CSS pixels, and the number of PNG pixels per CSS pixel."""

    svg: str
    width: float
    height: float
    scale: float = SCREEN


def converted(picture: Picture, kind: Kind) -> bytes:
    """The picture as PNG, or as PDF with selectable text. Raises NasError if no converter is available."""
    failures = []
    for name, convert in _CONVERTERS:
        try:
            content = convert(picture, kind)
        except Exception as error:  # any exception of a package: try the next one
            failures.append(f"{name}: {_reason(error)}")
            continue
        if content is not None:
            return content
    raise _no_converter(kind, failures)


def _no_converter(kind: Kind, failures: Sequence[str]) -> NasError:
    reason = f" ({'; '.join(failures)})" if failures else ""
    message = f"there is nothing here that turns SVG into {kind.upper()}{reason}"
    help = (
        "install one of `vl-convert-python` and `cairosvg` (with pip), `rsvg-convert` (librsvg2-bin), `inkscape` "
        "and `chromium`; or write `.svg`, which every browser shows"
    )
    return NasError([Diagnostic("NAS012", message, help=help)])


def _vl_convert(picture: Picture, kind: Kind) -> bytes | None:
    try:
        module = importlib.import_module("vl_convert")
    except ImportError:
        return None
    svg = picture.svg
    content = module.svg_to_pdf(_sized(picture)) if kind == "pdf" else module.svg_to_png(svg, scale=picture.scale)
    return content if isinstance(content, bytes) else None


def _sized(picture: Picture) -> str:
    """The SVG with its size in points, for converters that treat pixels as points."""
    size = f'width="{picture.width * POINTS:g}" height="{picture.height * POINTS:g}"'
    return re.sub(r'width="[^"]*" height="[^"]*"', size, picture.svg, count=1)


def _cairosvg(picture: Picture, kind: Kind) -> bytes | None:
    try:
        module = importlib.import_module("cairosvg")
    except (ImportError, OSError):  # the package or its native library is missing
        return None
    source = picture.svg.encode()
    content = module.svg2pdf(source) if kind == "pdf" else module.svg2png(source, scale=picture.scale)
    return content if isinstance(content, bytes) else None


def _rsvg(picture: Picture, kind: Kind) -> bytes | None:
    zoom = [f"--zoom={picture.scale:g}"] if kind == "png" else []
    return _piped(picture, ["rsvg-convert", f"--format={kind}", *zoom, "--unlimited"])


def _inkscape(picture: Picture, kind: Kind) -> bytes | None:
    sharp = [f"--export-dpi={96 * picture.scale:g}"] if kind == "png" else []
    return _piped(picture, ["inkscape", "--pipe", f"--export-type={kind}", *sharp, "--export-filename=-"])


def _chromium(picture: Picture, kind: Kind) -> bytes | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((file for name in names if (file := shutil.which(name))), None)
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        page, output = Path(folder, "page.html"), Path(folder, f"made.{kind}")
        size = f"{picture.width:g}px {picture.height:g}px"
        rules = f"@page {{ size: {size}; margin: 0 }} body {{ margin: 0 }} svg {{ display: block }}"
        page.write_text(f'<meta charset="utf-8"><style>{rules}</style>{picture.svg}', encoding="utf-8")
        if kind == "pdf":
            options = ["--no-pdf-header-footer", f"--print-to-pdf={output}"]
        else:
            window = f"{-(-picture.width // 1):.0f},{-(-picture.height // 1):.0f}"
            options = [f"--force-device-scale-factor={picture.scale:g}", f"--window-size={window}"]
            options += ["--hide-scrollbars", f"--screenshot={output}"]
        always = ["--headless", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in a container: it refuses to start sandboxed
            always.append("--no-sandbox")
        subprocess.run([program, *always, *options, page.as_uri()], check=True, capture_output=True, timeout=SECONDS)
        return output.read_bytes()


def _piped(picture: Picture, command: Sequence[str]) -> bytes | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    source = picture.svg.encode()
    done = subprocess.run([program, *command[1:]], input=source, capture_output=True, check=True, timeout=SECONDS)
    return done.stdout or None


def _reason(error: Exception) -> str:
    output = getattr(error, "stderr", None)
    text = output.decode(errors="replace") if isinstance(output, bytes) else ""
    return text.strip().rpartition("\n")[2] or str(error)  # programs warn first and fail last


_CONVERTERS: tuple[tuple[str, Callable[[Picture, Kind], bytes | None]], ...] = (
    ("vl_convert", _vl_convert),
    ("cairosvg", _cairosvg),
    ("rsvg-convert", _rsvg),
    ("inkscape", _inkscape),
    ("chromium", _chromium),
)
