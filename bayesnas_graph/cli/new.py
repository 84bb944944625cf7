"""`new`: a commented space to start from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.console import echo, written
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import dim
from bayesnas_graph.diagnostics.outputs import check_name, write_outputs
from bayesnas_graph.diagnostics.resources import shipped_space, unknown_space
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.syntax import reserved_words
from bayesnas_graph.runs.recipes import settings_files

TEMPLATE = """\
//! {title}: describe the space here; `bayesnas-graph spaces FILE` shows this text.

import "std.nas"

/// The candidates for an edge. `bayesnas-graph ops` lists all operations.
set candidates = {{ sep_conv(3), sep_conv(5), max_pool_bn(3), skip }}

/// A cell is a graph whose switches are shared by all its uses. Every edge below is a choice:
/// the search may keep any number of its candidates, or none.
cell block {{
    in x
    node h[3]  // a node sums its inputs
    for j in 0..3 {{
        x -> h[j] : choose candidates
        for i in 0..j {{
            h[i] -> h[j] : choose candidates
        }}
    }}
    concat(h) -> out : relu_conv_bn(channels(x))
}}

/// A network declares its input and output. Set its parameters with `-p width=32`.
network {name}(width = 16, blocks = 3) : image(3, 32, 32) -> classes(10) {{
    in picture
    node stem = picture : conv(width) > bn
    node b[k in 0..blocks] = stem then half(b[k - 1]) : block
    b[blocks - 1] -> out : global_avg_pool > linear(10)
    require params < 1M
}}

/// Half the resolution, twice the channels.
motif half {{
    in x
    x -> out : relu_conv_bn(2 * channels(x), 3, 2)
}}
"""


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the space; writes NAME.nas.")],
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="Shipped space to copy, with its recipes.",
            autocompletion=suggestions.shipped,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write a new space to start from."""
    if not name.rpartition("/")[2].removesuffix(".nas").strip("."):
        raise typer.BadParameter(f"`{name}` is not the name of a file", param_hint="NAME")
    path = Path(name if name.endswith(".nas") else f"{name}.nas")
    check_name(path)
    if start is None:
        text, recipes = TEMPLATE.format(title=path.stem, name=_identifier(path.stem)), {}
    else:
        shipped = shipped_space(start)
        if shipped is None:
            raise unknown_space(start)
        text = shipped.read_text(encoding="utf-8")
        recipes = {_renamed(one, shipped, path): one.read_text(encoding="utf-8") for one in settings_files(shipped)}
    outputs = [(file, content.encode()) for file, content in {path: text, **recipes}.items()]
    write_outputs(outputs, force=force)
    for line in written(recipes):
        echo(line, 2)
    echo(f"wrote {dim(str(path))}; next: bayesnas-graph check {path}")


def _renamed(recipe: Path, space: Path, new_space: Path) -> Path:
    """Return the path of a settings file for a copy of its space: `darts.quick.toml` becomes `mine.quick.toml`."""
    return new_space.with_name(new_space.stem + recipe.name.removeprefix(space.stem))


def _identifier(name: str) -> str:
    """Return a valid name of the language that resembles this one."""
    word = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    if not word or word[0].isdigit():
        word = f"net_{word}".rstrip("_")
    is_taken = word in reserved_words() or word in PRIMITIVES or word in ("block", "half", "candidates")
    return f"{word}_net" if is_taken else word
