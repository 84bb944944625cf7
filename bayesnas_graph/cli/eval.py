"""`eval`: how good a network with its weights is, how large, and how fast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.fixed import as_subject, network_of
from bayesnas_graph.cli.standing import step_time
from bayesnas_graph.cli.target import AllowPython, NetworkName, Parameters
from bayesnas_graph.cli.watch import labelled

if TYPE_CHECKING:
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.runs.subject import Subject
    from bayesnas_graph.train.appraise import Appraisal
    from bayesnas_graph.train.config import EvalConfig


def eval(
    target: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="The folder of a run; or a file, with `--weights`."),
    ],
    weights: Annotated[Path | None, typer.Option(metavar="FILE", help="Weights, as safetensors.")] = None,
    data: Annotated[str | None, typer.Option(help="The data; those of the training if left out.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option(envvar="BAYESNAS_DATA", help="Where files of data sets are; `data` if left out.")
    ] = None,
    network: NetworkName = None,
    parameters: Parameters = None,
    pad: Annotated[int | None, typer.Option(help="Black pixels around every image.")] = None,
    batch: Annotated[int | None, typer.Option(help="Images at a time, for the accuracy.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of data that are drawn.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.")] = None,
    precision: Annotated[str | None, typer.Option(help="fp32, bf16 or fp16.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="How often a latency is measured.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Measure a network: accuracy and loss on the test set, size, and how long it takes on this device."""
    from bayesnas_graph.runs.device import prepared
    from bayesnas_graph.runs.loading import loaded
    from bayesnas_graph.runs.settings import assigned, merged, option
    from bayesnas_graph.train.appraise import appraise
    from bayesnas_graph.train.config import EvalConfig

    given = {
        "--data": ("data", data),
        "--network": ("network", network),
        "--pad": ("pad", pad),
        "--batch": ("batch", batch),
        "--seed": ("seed", seed),
        "--device": ("device", device),
        "--precision": ("precision", precision),
    }
    told = [assigned(f"parameters.{text}") for text in parameters or []]
    told += [option(flag, key, value) for flag, (key, value) in given.items() if value is not None]
    with TemporaryDirectory() as temporary:
        if (target / "run.json").is_file():
            if weights is not None or network is not None or parameters:
                raise typer.BadParameter("a run has its own network and weights", param_hint="TARGET")
            written = Path(temporary) / "weights.safetensors"
            subject, config, weights, folder = _of_run(target, told, written, allow_python=allow_python_ops)
        else:
            config, folder = merged(told, EvalConfig), Path("data")
            if weights is None and config.data is not None:
                raise typer.BadParameter(
                    "name the weights that the accuracy is to be measured with", param_hint="--weights"
                )
            subject, config = network_of(target, config, allow_python=allow_python_ops)
        with prepared(config) as place:
            folder = data_dir or folder
            samples = None if config.data is None else loaded(subject, config, config.seed, folder, place.processes)
            found = appraise(subject.network, weights, samples, config, place, runs)
    if not place.processes.first:
        return
    if as_json:
        about = {"version": 1, "network": subject.network.name, "data": config.data, "device": str(place.device)}
        typer.echo(json.dumps(about | found.to_plain(), indent=2, allow_nan=False))
        return
    for line in _lines(subject, config, found, str(place.device)):
        typer.echo(line)


def _of_run(
    run: Path, told: list[Settings], written: Path, *, allow_python: bool
) -> tuple[Subject, EvalConfig, Path, Path]:
    """The network of a run, its settings as far as they matter here, its weights, and where its data are."""
    from bayesnas_graph.train.compress.source import kind_of

    kind = kind_of(run)
    if kind == "search":
        return _of_search(run, told, written, allow_python=allow_python)
    return (_of_compression if kind == "compress" else _of_training)(run, told, allow_python=allow_python)


def _of_search(
    run: Path, told: list[Settings], weights: Path, *, allow_python: bool
) -> tuple[Subject, EvalConfig, Path, Path]:
    """The architecture that a search has found, with its weights, which are written into a file."""
    from bayesnas_graph.codegen.emit import as_state, emit
    from bayesnas_graph.derive import of_run
    from bayesnas_graph.diagnostics.source import Source
    from bayesnas_graph.language.json import fingerprint
    from bayesnas_graph.runs.settings import Settings, merged
    from bayesnas_graph.train.config import EvalConfig
    from bayesnas_graph.train.weights import write_weights

    found = of_run(run, allow_python=allow_python)
    assert found.searched is not None, "it is the architecture of a search"
    manifest = found.searched.manifest
    shared = set(EvalConfig.model_fields) - {"accumulate", "network", "parameters"}
    own = manifest.config.model_dump(include=shared, exclude_none=True)
    config = merged([Settings(Source(str(run), ""), own), *told], EvalConfig)
    text, tensors = found.with_weights()
    state = as_state(tensors, {}, emit(text.graph, standalone=True))
    write_weights(weights, state, fingerprint(text.graph))
    return as_subject(run, text, allow_python=allow_python), config, weights, Path(manifest.data_dir)


def _of_training(run: Path, told: list[Settings], *, allow_python: bool) -> tuple[Subject, EvalConfig, Path, Path]:
    """The network of a training, its settings as far as they matter here, its weights, and where its data are."""
    from bayesnas_graph.diagnostics.source import Source
    from bayesnas_graph.runs.settings import Settings, merged
    from bayesnas_graph.runs.subject import copy_of
    from bayesnas_graph.train.compress.source import check_ended
    from bayesnas_graph.train.config import EvalConfig
    from bayesnas_graph.train.folder import TrainFolder

    folder = TrainFolder(run)
    manifest = folder.training()
    check_ended(folder.weights, run, "train")
    shared = set(EvalConfig.model_fields) - {"accumulate"}  # which need not divide another batch
    own = manifest.config.model_dump(include=shared, exclude_none=True)
    config = merged([Settings(Source(str(folder.manifest_file), ""), own), *told], EvalConfig)
    subject = copy_of(folder, manifest, manifest.config, allow_python=allow_python)
    return subject, config, folder.weights, Path(manifest.data_dir)


def _of_compression(run: Path, told: list[Settings], *, allow_python: bool) -> tuple[Subject, EvalConfig, Path, Path]:
    """What a compression has left, likewise."""
    from bayesnas_graph.diagnostics.source import Source
    from bayesnas_graph.runs.settings import Settings, merged
    from bayesnas_graph.train.compress.folder import CompressFolder
    from bayesnas_graph.train.compress.source import of_compression
    from bayesnas_graph.train.config import EvalConfig

    found, folder = of_compression(run, allow_python=allow_python), CompressFolder(run)
    assert found.settings is not None, "it is that of a run"
    shared = set(EvalConfig.model_fields) - {"accumulate", "network", "parameters"}
    own = found.settings.model_dump(include=shared, exclude_none=True)
    config = merged([Settings(Source(str(folder.manifest_file), ""), own), *told], EvalConfig)
    return found.subject, config, folder.weights, found.data_dir or Path("data")


def _lines(subject: Subject, config: EvalConfig, found: Appraisal, device: str) -> Iterator[str]:
    yield labelled("network", f"{subject.network.name} of {subject.name}")
    if found.score is not None:
        yield labelled("accuracy", f"{found.score.accuracy:.4f} on the {found.samples:,} test images of {config.data}")
        yield labelled("loss", f"{found.score.loss:.4f}")
    yield labelled("weights", f"{found.parameters:,}, which take {found.bytes:,} bytes")
    yield labelled("multiply-adds", f"{found.flops:,} per sample")
    for one in found.latencies:
        spread = f"{step_time(one.low)} to {step_time(one.high)}"
        images = "1 image" if one.batch == 1 else f"{one.batch} images"
        yield labelled("latency", f"{step_time(one.median)} ({spread}) for {images}, {device}")
