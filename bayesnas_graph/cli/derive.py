"""`derive`: the result of a search as a network without choices."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.architecture_options import ArchitectureOptions
from bayesnas_graph.cli.options import option_group
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.runs.paths import RunPaths


@option_group("options", ArchitectureOptions)
def derive(
    *,
    options: ArchitectureOptions,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder to write to (default: RUN/derived).")
    ] = None,
    as_string: Annotated[
        bool, typer.Option("--string", help="Print the architecture as DARTS or NAS-Bench-201 write it, and exit.")
    ] = False,
    force: Force = False,
) -> None:
    """Keep the open switches of a search, repair their connections, and write the network they form."""
    from bayesnas_graph.derive import as_text  # loads torch

    architecture = options.load()
    if as_string:
        if architecture.string is None:
            message = f"no string notation for architectures of {architecture.name}"
            raise typer.BadParameter(message, param_hint="--string")
        typer.echo(architecture.string)
        return
    if output is None and architecture.origin is not None:
        RunPaths(options.target).check_there()
        output = options.target / "derived"
    paths = architecture.save(output or Path(f"{options.target.stem}-derived"), force=force)
    for line in as_text(architecture.space, architecture.lines, architecture.measure):
        typer.echo(line)
    verdicts = architecture.decision.verdicts
    typer.echo(f"{sum(verdict.keep for verdict in verdicts)} of {len(verdicts)} switches stay: {architecture.rule}")
    typer.echo(f"{architecture.cost.parameters:,} parameters, {architecture.cost.flops_text} multiply-adds")
    for path in paths.values():
        typer.echo(f"wrote {path}")
    typer.echo(f"draw it with\n  bayesnas-graph draw {shlex.quote(str(paths['network.nas']))}")
