"""Notebook output: pictures, and cards for results.

Notebook viewers differ: some drop styles, scripts and inline SVG, and backgrounds are light or dark. So a card uses
plain elements and no colours, and embeds its picture as an image, whose styles stay separate from the page's.
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
from bayesnas_graph.report.pictures import Diagram, diagram_of, lay_out, merge_alike, svg_text
from bayesnas_graph.report.pictures.decided import prune_diagram
from bayesnas_graph.report.pictures.graph import diagram_of_graph

Row = tuple[str, ...]  # a label, and a value for each column

MAX_SVG = 2**21  # characters; larger pictures bloat notebooks and slow browsers down


def graph_svg(graph: Graph) -> str | None:
    """Draw a graph; None if that fails."""
    return _drawn(lambda: diagram_of_graph(graph))


def network_svg(network: Network) -> str | None:
    """Draw a network; None if that fails."""
    return _drawn(lambda: diagram_of(network))


def architecture_svg(network: Network, architecture: Graph) -> str | None:
    """Draw a network with only the gates of a pruned graph; None if that fails."""
    return _drawn(lambda: prune_diagram(diagram_of(network), {gate.name for gate in architecture.gates}))


def _drawn(diagram: Callable[[], Diagram]) -> str | None:
    try:
        svg = svg_text(lay_out(merge_alike(diagram())), inline=True)
    except Exception:  # a result must be shown even if drawing fails
        return None
    return svg if len(svg) <= MAX_SVG else None


@dataclass(frozen=True)
class Card:
    """A result at a glance: subject, numbers, picture, and the next commands."""

    title: str
    about: tuple[str, ...]  # sentences
    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()  # headings of the values, if there are several
    picture: str | None = None  # SVG
    folder: Path | None = None  # of the run
    verbs: tuple[str, ...] = ()  # suggested commands, such as `report RUN`

    def html(self) -> str:
        """The card as HTML."""
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
            lines = [f"The run is in {_code(run)}. Next steps:", *map(_code, commands)]
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
    """A cell. The alignment is given twice because viewers may drop or override styles."""
    return f'<{kind} align="{side}" style="text-align: {side}">{escape(text)}</{kind}>'


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _image(svg: str, title: str) -> str:
    source = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{source}" style="max-width: 100%">'
