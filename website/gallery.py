"""The gallery: every shipped space with its picture, source, sizes and recipes. Pictures are written with the site."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from bayesnas_graph.cli.stats import scientific
from bayesnas_graph.diagnostics import NasError, Report
from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.language.elaborate import Checker, Network, Space
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.passes.analysis import cost, switches
from bayesnas_graph.report.pictures import Theme, diagram_of, lay_out, svg_text
from bayesnas_graph.runs.recipes import settings_files

THEMES: tuple[Theme, ...] = ("light", "dark")
INTRODUCTION = """# Gallery of spaces

Every shipped space with a picture of its first network. `bayesnas-graph draw NAME` draws it as a file, and
`bayesnas-graph spaces NAME --text` prints its source. [Published sizes](published.md) compares the sizes with the
papers. Click a picture to see it alone.

"""


def shown_spaces(names: Collection[str] = ()) -> list[tuple[Path, Space]]:
    """Return the shipped spaces with these names, or all."""
    return [(file, _checked(file)) for file in shipped_spaces() if not names or file.stem in names]


def page(spaces: Iterable[tuple[Path, Space]]) -> str:
    """Return the text of the page."""
    return INTRODUCTION + "\n".join(_entry(file, space) for file, space in spaces)


def pictures(spaces: Iterable[tuple[Path, Space]]) -> dict[str, str]:
    """Return a light and a dark picture of every space."""
    drawn = {}
    for file, space in spaces:
        if space.networks:
            laid_out = lay_out(diagram_of(space.networks[0]))
            for theme in THEMES:
                drawn[f"gallery/{file.stem}-{theme}.svg"] = svg_text(laid_out, theme)
    return drawn


def _checked(file: Path) -> Space:
    report = Report()
    space = Checker(report).path(file, f"<shipped>/{file.name}")  # as pictures name it
    if space is None or report.has_errors:
        raise NasError(report.diagnostics)
    return space


def _entry(file: Path, space: Space) -> str:
    """Return a section: the title, the text of the space, its picture, a row per network, its recipes."""
    title, *rest = space.doc.split("\n\n")
    lines = [f"## {file.stem}", "", f"**{_text(title)}**", ""]
    for paragraph in rest:
        lines += [_text(paragraph), ""]
    if space.networks:
        for theme in THEMES:
            picture = f"gallery/{file.stem}-{theme}.svg"
            lines += [f"[![picture of {file.stem}]({picture}#only-{theme})]({picture}){{.space-picture}}", ""]
        lines += ["| network | from | to | architectures | switches | operations | parameters |", "|" + "---|" * 7]
        lines += [_row(network) for network in space.networks]
    else:
        lines += ["It has no network: other spaces import it. `bayesnas-graph ops` lists its operations."]
    if recipes := list(_recipes(file)):
        lines += ["", "Recipes:", "", *recipes]
    return "\n".join(lines) + "\n"


def _row(network: Network) -> str:
    graph = network.graph()
    counted = switches(graph)
    cells = [
        f"`{network.name}`",
        ", ".join(map(show, network.inputs)),
        ", ".join(map(show, network.outputs)),
        scientific(counted.settings) if counted.choices else "1",
        f"{counted.candidates:,}" if counted.choices else "none",
        f"{network.block.nodes:,}",
        f"{cost(graph).parameters:,}",
    ]
    return f"| {' | '.join(cells)} |"


def _recipes(file: Path) -> Iterator[str]:
    for recipe in settings_files(file):
        first = recipe.read_text(encoding="utf-8").partition("\n")[0]
        yield f"- `{recipe.name}`" + (f": {_text(first.lstrip('# '))}" if first.startswith("#") else "")


def _text(paragraph: str) -> str:
    """Return a paragraph on one line, without characters that Markdown would read outside code."""
    parts = " ".join(paragraph.split()).split("`")
    for i in range(0, len(parts), 2):
        parts[i] = parts[i].replace("*", r"\*").replace("_", r"\_").replace("<", "&lt;")
    return "`".join(parts)
