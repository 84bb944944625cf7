"""`export`: a network as Python source and weights, and in formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.architecture_options import ArchitectureOptions
from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.network_options import load_network
from bayesnas_graph.cli.options import DataDir, option_group
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import dim, loading
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.outputs import check_names, check_outputs
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.manifest import kind_of
from bayesnas_graph.runs.opening import open_run

if TYPE_CHECKING:
    from bayesnas_graph.codegen.export import Model

_FORMATS = "Other formats"


@option_group("options", ArchitectureOptions)
def export(
    *,
    options: ArchitectureOptions,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.py", help="File (default: name of the network).")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the weights of the run, as safetensors.")
    ] = None,
    recalibrate: Annotated[
        int, typer.Option(min=0, metavar="N", help="Measure the statistics of norms again, on N batches of the data.")
    ] = 0,
    data_dir: DataDir = None,
    force: Force = False,
    onnx: Annotated[Path | None, typer.Option(metavar="FILE", help="Write ONNX.", rich_help_panel=_FORMATS)] = None,
    torchscript: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write TorchScript.", rich_help_panel=_FORMATS)
    ] = None,
    program: Annotated[
        Path | None,
        typer.Option("--torch-export", metavar="FILE", help="Write a torch.export program.", rich_help_panel=_FORMATS),
    ] = None,
) -> None:
    """Write a network as source that needs only torch: of a run, of a given architecture, or of a file."""
    with_weights = weights is not None or bool(recalibrate)
    model = _model(options, with_weights=with_weights)
    path = output or Path(f"{model.graph.name}.py")
    formats = [other for other in (onnx, torchscript, program) if other is not None]
    check_names([path, *formats] if weights is None else [path, weights, *formats])
    check_outputs([(one, None) for one in formats], force=force)
    if recalibrate:
        model = _recalibrated(options, model, recalibrate, data_dir)
    model.write(path, weights, force=force)
    echo(f"wrote {dim(str(path))}: class {model.program.network}, {cost(model.graph).parameters:,} parameters", 2)
    if weights is not None:
        echo(f"wrote {dim(str(weights))}", 2)
    _write_formats(model, onnx=onnx, torchscript=torchscript, program=program, force=force)


def _model(options: ArchitectureOptions, *, with_weights: bool) -> Model:
    with loading():
        from bayesnas_graph.codegen.export import model_of

    chosen = options.space is not None or options.has_rule
    if not options.is_given and kind_of(options.target) in ("train", "compress"):
        if chosen or options.network or options.param:
            raise typer.BadParameter("this run has only one network, so these options do not apply", param_hint="RUN")
        subject, tensors = open_run(options.target, allow_python=options.allow_python).result
        return model_of(subject.network, subject.name, tensors)
    if not options.is_fixed:
        return options.load().model(weights=with_weights)
    if with_weights:
        message = f"`{options.target}` comes from a `.nas` file and has no weights"
        help = "pass a search run folder, or train it: `bayesnas-graph train` writes weights for the exported source"
        raise NasError([Diagnostic("NAS616", message, help=help)])
    if chosen:
        raise typer.BadParameter("a network without choices has no switches to select", param_hint="FILE")
    network = load_network(options.target, options.network, options.param, allow_python=options.allow_python)
    return model_of(network, str(options.target))


def _recalibrated(options: ArchitectureOptions, model: Model, batches: int, data_dir: Path | None) -> Model:
    """Return the model with the statistics of its norms measured on the data of the search."""
    from bayesnas_graph.codegen.export.recalibrate import recalibrate
    from bayesnas_graph.search.samples import samples_of

    module = model.build()
    samples = samples_of(options.target, batches, data_dir, allow_python=options.allow_python)
    norms = recalibrate(module, samples)
    echo(f"measured {norms} norms on {batches} batches")
    return model.with_weights(module.state_dict())


def _write_formats(
    model: Model, *, onnx: Path | None, torchscript: Path | None, program: Path | None, force: bool
) -> None:
    if not (onnx or torchscript or program):
        return
    from bayesnas_graph.codegen.export.formats import write_onnx, write_program, write_torchscript

    module = model.build()
    for path, write in ((onnx, write_onnx), (torchscript, write_torchscript), (program, write_program)):
        if path is not None:
            checked = write(module, model.inputs, path, force=force)
            checks = f"{checked.bytes:,} bytes, outputs differ by at most {checked.difference:.1g}"
            echo(f"wrote {dim(str(path))}: {checks}", 2)
