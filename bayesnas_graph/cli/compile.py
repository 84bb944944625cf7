"""`compile`: a space as a graph, Python source and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bayesnas_graph import passes
from bayesnas_graph.cli.console import echo, written
from bayesnas_graph.cli.network_options import AllowPython, NetworkName, Parameters, SpaceFile, load_network
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.diagnostics.outputs import write_outputs
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.json import fingerprint, to_json
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.report.drawing import Drawing


def compile(
    file: SpaceFile,
    network: NetworkName = None,
    parameters: Parameters = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder (default: name of the network)."),
    ] = None,
    zero: Annotated[
        Literal["before", "after"], typer.Option(help="Position of the zero switch relative to the candidates.")
    ] = "after",
    mode: Annotated[
        Literal["written", "proxy", "proxyless"],
        typer.Option(
            metavar="MODE",
            help="Share switches between uses of a cell (`written`), of any motif (`proxy`), or not (`proxyless`).",
        ),
    ] = "written",
    fuse: Annotated[
        bool, typer.Option("--fuse/--no-fuse", help="Fuse operations for speed, or write one call per operation.")
    ] = True,
    device: Annotated[Literal["cpu", "cuda"], typer.Option(help="Device to optimise for.")] = "cpu",
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Batch size to optimise for.")] = 64,
    force: Force = False,
    allow_python: AllowPython = False,
) -> None:
    """Compile a space to a graph (JSON), a network with all candidates (Python) and a picture (SVG)."""
    loaded = load_network(file, network, parameters, allow_python=allow_python)
    elaborated = loaded.graph()
    options = passes.Options(zero, mode, device, batch)
    graph = passes.run(elaborated, passes.SWITCHES, options)
    faster = passes.run(graph, passes.FASTER if fuse else (), options)
    mark = fingerprint(elaborated)[:16]
    folder = output or Path(loaded.name)
    contents = {
        "graph.json": to_json(graph).encode(),
        f"{loaded.name}.py": emit(faster, _doc(loaded, mark), standalone=not fuse).text.encode(),
        f"{loaded.name}.svg": Drawing.of(loaded).only([]).page(),
    }
    write_outputs([(folder / name, content) for name, content in contents.items()], force=force)
    _summarise(loaded, elaborated, faster, mark)
    for line in written(folder / name for name in contents):
        echo(line, 2)


def _doc(network: Network, mark: str) -> str:
    contents = "all candidates of the space together" if network.block.choices else "without choices"
    return f"Network `{network.call_text}`, {contents}.\n\nFingerprint of the space: {mark}.\n"


def _summarise(network: Network, before: Graph, after: Graph, mark: str) -> None:
    groups = {gate.group for gate in after.gates}
    rows = [
        ("fingerprint", mark),
        ("operations", f"{_operations(before):,} as written, {_operations(after):,} compiled"),
        ("parameters", f"{cost(after).parameters:,}"),
        ("switches", f"{len(groups):,} ({len({g.name for g in after.gates}):,} in all uses), zero switches included"),
    ]
    echo(bold(f"network {network.name}"))
    for label, value in rows:
        echo(f"  {label:<12} {value}", 15)


def _operations(graph: Graph) -> int:
    """Return the number of operations as `check` and `stats` count them: without the inputs of the network."""
    return sum(node.op.inputs != 0 for node in graph)
