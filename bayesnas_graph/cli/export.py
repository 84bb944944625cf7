"""`export`: a network as Python source, as weights, and in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from bayesnas_graph.cli.target import AllowPython, load_network
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.codegen.export import Model

_FORMATS = "For other tools"


def export(
    target: Target,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE.py", help="Where to write it.")] = None,
    weights: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the weights of the search, too, as safetensors.")
    ] = None,
    recalibrate: Annotated[
        int, typer.Option(min=0, metavar="N", help="Measure the statistics of norms anew, on N batches of the data.")
    ] = 0,
    data_dir: Annotated[
        Path | None, typer.Option(envvar="BAYESNAS_DATA", help="Where files of data sets are, for that.")
    ] = None,
    onnx: Annotated[Path | None, typer.Option(metavar="FILE", help="ONNX.", rich_help_panel=_FORMATS)] = None,
    torchscript: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TorchScript.", rich_help_panel=_FORMATS)
    ] = None,
    program: Annotated[
        Path | None,
        typer.Option("--torch-export", metavar="FILE", help="A program of torch.export.", rich_help_panel=_FORMATS),
    ] = None,
    keep_per_edge: PerEdge = None,
    keep_per_node: PerNode = None,
    budget: Budget = None,
    rank: Rank = "relevance",
    architecture: String = None,
    space: OtherSpace = None,
    network: OtherNetwork = None,
    parameters: OtherParameters = None,
    allow_python_ops: AllowPython = False,
) -> None:
    """Write a network as source that needs torch alone: that of a search, of a string, or of a file without choices."""
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
    with_weights = weights is not None or bool(recalibrate)
    model = _model(wanted, with_weights=with_weights)
    if recalibrate:
        model = _recalibrated(wanted, model, recalibrate, data_dir)
    path = output or Path(f"{model.graph.name}.py")
    model.write_source(path)
    typer.echo(f"wrote {path}: class {model.program.network}, {_count(model):,} weights")
    if weights is not None:
        model.write_weights(weights)
        typer.echo(f"wrote {weights}")
    _write_formats(model, onnx=onnx, torchscript=torchscript, program=program)


def _model(wanted: Wanted, *, with_weights: bool) -> Model:
    from bayesnas_graph.codegen.export import model_of
    from bayesnas_graph.runs.manifest import kind_of
    from bayesnas_graph.runs.opening import open_run

    chosen = wanted.space or wanted.per_edge or wanted.per_node or wanted.budget
    if wanted.string is None and kind_of(wanted.target) in ("train", "compress"):
        if chosen or wanted.network or wanted.parameters:
            raise typer.BadParameter("this run has one network: there is nothing to choose", param_hint="RUN")
        subject, tensors = open_run(wanted.target, allow_python=wanted.allow_python).result
        return model_of(subject.network, subject.name, tensors)
    if not wanted.is_fixed:
        return wanted.architecture().model(weights=with_weights)
    if with_weights:
        message = f"`{wanted.target}` is text, and has no weights"
        help = "name the folder of a search, or train it: `bayesnas-graph train` writes weights for the exported source"
        raise NasError([Diagnostic("NAS616", message, help=help)])
    if chosen:
        raise typer.BadParameter("there is nothing to choose from in a network that is given", param_hint="FILE")
    found = load_network(wanted.target, wanted.network, list(wanted.parameters), allow_python=wanted.allow_python)
    return model_of(found, str(wanted.target))


def _recalibrated(wanted: Wanted, model: Model, batches: int, data_dir: Path | None) -> Model:
    """The model with statistics of its norms measured on data of the search."""
    from bayesnas_graph.codegen.export.recalibrate import recalibrate
    from bayesnas_graph.search.samples import samples_of

    module = model.build()
    norms = recalibrate(module, samples_of(wanted.target, batches, data_dir))
    typer.echo(f"measured {norms} norms anew on {batches} batches")
    return model.with_weights(module.state_dict())


def _write_formats(model: Model, *, onnx: Path | None, torchscript: Path | None, program: Path | None) -> None:
    if not (onnx or torchscript or program):
        return
    from bayesnas_graph.codegen.export.formats import write_onnx, write_program, write_torchscript

    module = model.build()
    for path, write in ((onnx, write_onnx), (torchscript, write_torchscript), (program, write_program)):
        if path is not None:
            checked = write(module, model.inputs, path)
            typer.echo(f"wrote {path}: {checked.bytes:,} bytes, outputs differ by {checked.difference:.1g} at most")


def _count(model: Model) -> int:
    from bayesnas_graph.passes.analysis import cost

    return cost(model.graph).parameters
