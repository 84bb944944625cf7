"""The network that a run was made with, out of the copy in its folder."""

from __future__ import annotations

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Loaded, load_network
from bayesnas_graph.language.elaborate.load import number
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import Traces


def space_of(found: Traces, *, allow_python: bool = False) -> Loaded:
    """The space of a run, with its parameters. Raises NasError if it cannot be read, or needs code that may not run."""
    manifest = found.manifest
    if manifest.get("python_ops") and not allow_python:
        help = "say `--allow-python-ops` if you trust it"
        raise NasError([Diagnostic("NAS105", f"`{found.folder}` uses operations written in Python", help=help)])
    try:
        given = {name: number(str(value).lower()) for name, value in found.config.get("parameters", {}).items()}
        file = RunPaths(found.folder).space / manifest["file"]
    except (KeyError, TypeError, ValueError, AttributeError):
        message = f"cannot read `{RunPaths(found.folder).manifest_file}`: it does not tell which network was meant"
        raise NasError([Diagnostic("NAS602", message)]) from None
    return load_network(file, manifest["network"], given, called=manifest.get("called"), allow_python=allow_python)


def switched(found: Traces, space: Loaded) -> Graph:
    """The graph of a network with its zero switches, where the settings of the run have put them."""
    config = found.config
    order = passes.passes(zero=config.get("zero", "after"), mode=config.get("mode", "written"), fuse=False)
    return passes.run(space.network.graph(), order)
