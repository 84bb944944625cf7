"""`sample`: random architectures of a space."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph import api
from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.network_options import AllowPython, NetworkName, Parameters, SpaceFile, load_network
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import bold, paint, waiting
from bayesnas_graph.diagnostics.outputs import write_outputs
from bayesnas_graph.diagnostics.words import counted

if TYPE_CHECKING:
    from bayesnas_graph.derive.sample import Drawn, Sample

HEADINGS = ("", "parameters", "multiply-adds", "switches", "architecture")


def sample(
    file: SpaceFile,
    count: Annotated[int, typer.Option("-n", "--count", min=1, max=1_000_000, help="How many.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws others.")] = 0,
    with_replacement: Annotated[
        bool, typer.Option("--with-replacement", help="The same architecture may be drawn again.")
    ] = False,
    network: NetworkName = None,
    parameters: Parameters = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write a file for each, for `derive --architecture @FILE`."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each.")] = False,
    force: Force = False,
    allow_python: AllowPython = False,
) -> None:
    """Draw random architectures: connected, distinct, meeting what the network requires, and all equally likely."""
    loaded = load_network(file, network, parameters, allow_python=allow_python)
    with waiting("drawing architectures"):
        found = api.sample(loaded, count, seed=seed, with_replacement=with_replacement)
    if output is not None:
        width = len(str(len(found)))
        texts = {f"{i:0{width}}.txt": _file(one, i, str(file), seed) for i, one in enumerate(found, 1)}
        write_outputs([(output / name, text.encode()) for name, text in texts.items()], force=force)
    for line in map(_json, range(1, len(found) + 1), found) if as_json else _table(found):
        echo(line)
    echo(_summary(found, count, seed), 2, err=as_json)
    if output is not None:
        where = paint("dim", str(output), sys.stderr if as_json else sys.stdout)
        echo(f"wrote {counted(len(found), 'file')} to {where}", 2, err=as_json)


def _table(found: Sample) -> list[str]:
    rows = [HEADINGS]
    for number, one in enumerate(found, 1):
        rows.append((f"{number}", f"{one.parameters:,}", f"{one.flops:,}", f"{len(one.switches):,}", _name(one)))
    *widths, _ = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        numbers = [text.rjust(width) for text, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*numbers, row[-1]]))
    return [bold(lines[0]), *lines[1:]]


def _name(one: Drawn) -> str:
    return one.string or one.name


def _json(number: int, one: Drawn) -> str:
    content = {"number": number, "name": one.name, "parameters": one.parameters, "multiply_adds": one.flops}
    return json.dumps({**content, "string": one.string, "switches": one.switches})


def _file(one: Drawn, number: int, space: str, seed: int) -> str:
    about = f"# Architecture {number} of {space}, drawn with seed {seed}: {one.parameters:,} parameters."
    return "\n".join([about.replace("\n", " "), *one.switches]) + "\n"


def _summary(found: Sample, count: int, seed: int) -> str:
    if found.is_all:
        return f"{counted(len(found), 'architecture')}: there are no others"
    how = "uniformly" if found.is_uniform else "by a Markov chain, so not exactly uniformly,"
    few = f"{len(found):,} of {count:,} architectures" if len(found) < count else counted(count, "architecture")
    return f"{few}, drawn {how} with seed {seed}"
