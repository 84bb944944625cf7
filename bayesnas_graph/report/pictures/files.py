"""Pictures as the contents of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from bayesnas_graph.report.pictures.convert import Picture, converted
from bayesnas_graph.report.pictures.diagram import Diagram, Panel
from bayesnas_graph.report.pictures.dot import dot_text
from bayesnas_graph.report.pictures.figure import figure_of, ink
from bayesnas_graph.report.pictures.mermaid import mermaid_text
from bayesnas_graph.report.pictures.page import lay_out
from bayesnas_graph.report.pictures.style import Theme
from bayesnas_graph.report.pictures.svg import svg_text

Format = Literal["svg", "png", "pdf", "dot", "mermaid"]
ENDINGS: Mapping[str, Format] = {
    ".svg": "svg",
    ".png": "png",
    ".pdf": "pdf",
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
}


def format_of(path: Path) -> Format | None:
    """Return the format that the ending of a file stands for, if it is known."""
    return ENDINGS.get(path.suffix.lower())


def page_content(diagram: Diagram, format: Format, theme: Theme = "auto") -> bytes:
    """Return all panels on one page, as the content of a file. Raises NasError if it cannot be converted."""
    if format == "dot":
        return dot_text(diagram).encode()
    if format == "mermaid":
        return mermaid_text(diagram).encode()
    page = lay_out(diagram)
    # Only SVG can follow the theme of a browser.
    shown = "light" if theme == "auto" and format != "svg" else theme
    return _file(Picture(svg_text(page, shown), page.width, page.height), format)


def figure_content(
    panel: Panel, diagram: Diagram, format: Format, theme: Theme = "auto", *, mono: bool = False
) -> bytes:
    """Return one panel as a figure. Its background is transparent, except in PNG files and where a theme is set."""
    colours = ink(mono=mono, dark=theme == "dark", ground=theme != "auto" or format == "png")
    return _file(figure_of(panel, diagram, colours), format)


def _file(picture: Picture, format: Format) -> bytes:
    return converted(picture, format) if format in ("png", "pdf") else picture.svg.encode()
