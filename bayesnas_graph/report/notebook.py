"""What notebooks show of things: pictures, and cards for results.

Notebooks are read in many programs. Some drop styles, scripts and SVG among HTML, and each has a background of its own,
light or dark. So a card is made of plain elements, sets no colours, and its picture is an image, whose style cannot
reach the page around it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from shlex import quote

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.report.pictures import Diagram, diagram_of, lay_out, svg_text
from bayesnas_graph.report.pictures.decided import settled_diagram
from bayesnas_graph.report.pictures.graph import diagram_of_graph

Row = tuple[str, ...]  # what it is about, and a value for each column

LARGEST = 2**21  # characters of a picture: notebooks keep them all, and browsers take long over more


def graph_svg(graph: Graph) -> str | None:
    """A graph drawn; None if it cannot be."""
    return _drawn(lambda: diagram_of_graph(graph))


def network_svg(network: Network) -> str | None:
    """A network drawn; None if it cannot be."""
    return _drawn(lambda: diagram_of(network))


def architecture_svg(network: Network, left: Graph) -> str | None:
    """What is left of a network drawn, by the gates of a graph that was pruned; None if it cannot be."""
    return _drawn(lambda: settled_diagram(diagram_of(network), {gate.name for gate in left.gates}))


def _drawn(diagram: Callable[[], Diagram]) -> str | None:
    try:
        svg = svg_text(lay_out(diagram()))
    except Exception:  # a fault in a picture is no reason to show a traceback in place of a result
        return None
    return svg if len(svg) <= LARGEST else None


@dataclass(frozen=True)
class Card:
    """A result at a glance: what it was, its numbers, its picture, and what can be done next."""

    title: str
    about: tuple[str, ...]  # sentences
    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()  # over the values, where there are several
    picture: str | None = None  # SVG
    folder: Path | None = None  # of the run
    verbs: tuple[str, ...] = ()  # commands for it, such as `report`

    def html(self) -> str:
        """As a notebook shows it."""
        parts = [
            f"<p><b>{escape(self.title)}</b></p>",
            *(f"<p>{escape(text)}</p>" for text in self.about if text),
            _table(self.columns, self.rows),
        ]
        if self.picture is not None:
            parts.append(_image(self.picture, self.title))
        if self.folder is not None:
            run = str(self.folder)
            commands = [f"bayesnas-graph {verb.replace('RUN', quote(run))}" for verb in self.verbs]
            lines = [f"It is in {_code(run)}. Go on with", *map(_code, commands)]
            parts.append(f"<p>{'<br>'.join(lines)}</p>")
        return "\n".join(["<div>", *parts, "</div>"])


def _table(columns: Iterable[str], rows: Iterable[Row]) -> str:
    head = "".join(_cell("th", text, "right") for text in columns)
    lines = [f"<tr><th></th>{head}</tr>"] if head else []
    for label, *values in rows:
        cells = "".join(_cell("td", text, "right") for text in values)
        lines.append(f"<tr>{_cell('th', label, 'left')}{cells}</tr>")
    return "\n".join(['<table cellpadding="4">', *lines, "</table>"])


def _cell(kind: str, text: str, side: str) -> str:
    """A cell. Its side is said twice, for a reader may drop styles, or have others of its own."""
    return f'<{kind} align="{side}" style="text-align: {side}">{escape(text)}</{kind}>'


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _image(svg: str, title: str) -> str:
    source = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{source}" style="max-width: 100%">'
