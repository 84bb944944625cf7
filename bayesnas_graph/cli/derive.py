"""`derive`: from what a search decided to a network without choices."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.architecture import (
    Budget,
    OtherNetwork,
    OtherParameters,
    OtherSpace,
    PerEdge,
    PerNode,
    Rank,
    String,
    Target,
    Wanted,
)
from bayesnas_graph.cli.target import AllowPython


def derive(
    target: Target,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where to write; RUN/derived if left out.")
    ] = None,
    keep_per_edge: PerEdge = None,
    keep_per_node: PerNode = None,
    budget: Budget = None,
    rank: Rank = "relevance",
    architecture: String = None,
    space: OtherSpace = None,
    network: OtherNetwork = None,
    parameters: OtherParameters = None,
    as_string: Annotated[
        bool, typer.Option("--string", help="Print it as DARTS or NAS-Bench-201 write it, and leave.")
    ] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Take the open switches of a search, see that they hold together, and write the network that is left."""
    from bayesnas_graph.derive import as_text

    wanted = Wanted(
        target,
        keep_per_edge,
        keep_per_node,
        tuple(budget or ()),
        rank,
        architecture,
        space,
        network,
        tuple(parameters or ()),
        allow_python_ops,
    )
    found = wanted.architecture()
    if as_string:
        typer.echo(found.string or _no_notation(found.name))
        return
    folder = output or (target / "derived" if wanted.is_run else Path(f"{target.stem}-derived"))
    paths = found.save(folder)
    for line in as_text(found.space, found.lines, found.measure):
        typer.echo(line)
    kept = sum(verdict.keep for verdict in found.decision.verdicts)
    typer.echo(f"{kept} of {len(found.decision.verdicts)} switches stay: {found.rule}")
    typer.echo(f"{found.cost.parameters:,} weights, {found.cost.flops:,} multiply-adds")
    for path in paths.values():
        typer.echo(f"wrote {path}")
    typer.echo(f"look at it with\n  bayesnas-graph draw {shlex.quote(str(paths['network.nas']))}")


def _no_notation(name: str) -> str:
    raise typer.BadParameter(f"there is no notation for architectures of {name}", param_hint="--string")
