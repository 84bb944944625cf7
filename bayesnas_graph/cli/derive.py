"""`derive`: the result of a search as a network without choices."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.architecture_options import ArchitectureOptions
from bayesnas_graph.cli.console import echo, hint, written
from bayesnas_graph.cli.display.switch_table import SwitchTable
from bayesnas_graph.cli.options import option_group
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import bold, dim, loading, text_width
from bayesnas_graph.diagnostics.wrapping import whole
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.outline import switches_of

if TYPE_CHECKING:
    from bayesnas_graph.derive import Architecture

MOST_KEPT = 40  # candidates that are listed one by one; more are counted by cell and operation
MOST_NAMES = 12  # dropped candidates that are named for each reason on a line
MOST_LINES = 30  # of the table of counts


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
    list_all: Annotated[
        bool, typer.Option("--all", help=f"List every switch, also when more than {MOST_KEPT} are kept.")
    ] = False,
    force: Force = False,
) -> None:
    """Keep the open switches of a search, repair their connections, and write the network they form."""
    with loading():
        from bayesnas_graph.derive import as_text

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
    lines, most = architecture.lines, None if list_all else MOST_NAMES
    if list_all or sum(len(line.kept) for line in lines) <= MOST_KEPT:
        for text in as_text(architecture.space, lines, architecture.measure, most=most, name=whole):
            echo(text, 6)
    else:
        _summarise(architecture)
    verdicts = architecture.decision.verdicts
    stay = f"{sum(verdict.keep for verdict in verdicts)} of {len(verdicts)} switches stay"
    echo(f"{bold(stay)}: {architecture.rule}", 2)
    echo(f"{architecture.cost.parameters:,} parameters, {architecture.cost.flops_text} multiply-adds", 2)
    for line in written(paths.values()):
        echo(line, 2)
    hint("draw it", f"bayesnas-graph draw {shlex.quote(str(paths['network.nas']))}")


def _summarise(architecture: Architecture) -> None:
    """Print how many candidates are kept of each operation in each cell, and why the others are not."""
    candidates = [switch for switch in switches_of(architecture.space) if not switch.is_zero]
    names = {switch.name for switch in candidates}
    verdicts = [verdict for verdict in architecture.decision.verdicts if verdict.name in names]
    kept = {verdict.name for verdict in verdicts if verdict.keep}
    echo(bold("kept candidates, by cell and operation"))
    for line in SwitchTable.of(candidates, kept).lines(text_width(sys.stdout) or 100, MOST_LINES):
        echo(f"  {line}")
    reasons = Counter(str(verdict.why) for verdict in verdicts if not verdict.keep)
    if reasons:
        echo(f"dropped: {', '.join(f'{number:,} {why}' for why, number in reasons.most_common())}", 2)
    echo(dim("`--all` lists every switch; `decision.json` has them too"))
