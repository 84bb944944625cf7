"""`compile`: a space as a graph, as source and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bayesnas_graph.cli.draw import picture
from bayesnas_graph.cli.target import AllowPython, NetworkName, Parameters, SpaceFile, load_network
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show


def compile(
    file: SpaceFile,
    network: NetworkName = None,
    parameters: Parameters = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where to write; a new folder.")
    ] = None,
    zero: Annotated[
        Literal["before", "after"], typer.Option(help="Where the zero switch of a choice stands.")
    ] = "after",
    mode: Annotated[
        Literal["written", "proxy", "proxyless"],
        typer.Option(help="Who shares switches: the uses of each cell, of each motif, or nobody."),
    ] = "written",
    fuse: Annotated[
        bool, typer.Option("--fuse/--no-fuse", help="Make it fast, or plain: one call per operation.")
    ] = True,
    device: Annotated[
        Literal["cpu", "cuda"], typer.Option(help="Where it will run, for what is faster there.")
    ] = "cpu",
    batch: Annotated[int, typer.Option(min=1, help="On how many samples at a time it will run.")] = 64,
    allow_python_ops: AllowPython = False,
) -> None:
    """Turn a space into a graph (JSON), one network with all its candidates (Python) and a picture (SVG)."""
    from bayesnas_graph import passes
    from bayesnas_graph.codegen.emit import emit
    from bayesnas_graph.language.json import fingerprint, to_json

    found = load_network(file, network, parameters, allow_python=allow_python_ops)
    elaborated = found.graph()
    graph = passes.run(elaborated, passes.passes(zero=zero, mode=mode, fuse=False))
    faster = passes.run(graph, passes.faster(device, batch) if fuse else ())
    mark = fingerprint(elaborated)[:16]
    folder = _new_folder(output or Path(found.name))
    contents = {
        "graph.json": to_json(graph).encode(),
        f"{found.name}.py": emit(faster, _doc(found, mark), standalone=not fuse).text.encode(),
        f"{found.name}.svg": picture(found, "svg"),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    _summarise(found, elaborated, faster, mark)
    for name in contents:
        typer.echo(f"wrote {folder / name}")


def _doc(network: Network, mark: str) -> str:
    given = ", ".join(f"{name} = {show(value)}" for name, value in network.arguments)
    whole = "all candidates of the space together" if network.block.choices else "without choices"
    name = f"{network.name}({given})" if given else network.name
    return f"Network `{name}`, {whole}.\n\nFingerprint of the space: {mark}.\n"


def _new_folder(path: Path) -> Path:
    """A folder that holds nothing yet: results are never mixed with others."""
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            help = "name another folder with `-o`"
            raise NasError([Diagnostic("NAS012", f"`{path}` is already there", help=help)])
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NasError([Diagnostic("NAS012", f"cannot write `{path}`: {error.strerror}")]) from None
    return path


def _summarise(network: Network, before: Graph, after: Graph, mark: str) -> None:
    from bayesnas_graph.passes.analysis import cost

    groups = {gate.group for gate in after.gates}
    rows = [
        ("fingerprint", mark),
        ("operations", f"{_operations(before):,} as written, {_operations(after):,} compiled"),
        ("weights", f"{cost(after).parameters:,}"),
        ("switches", f"{len(groups):,} ({len({g.name for g in after.gates}):,} in all uses), zero switches included"),
    ]
    typer.echo(f"network {network.name}")
    for label, value in rows:
        typer.echo(f"  {label:<12} {value}")


def _operations(graph: Graph) -> int:
    """How many there are, as `check` and `stats` count them: the inputs of the network are none."""
    return sum(node.op.inputs != 0 for node in graph)
