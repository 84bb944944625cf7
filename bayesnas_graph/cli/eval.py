"""`eval`: how good a network with its weights is, how large, and how fast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.console import labelled
from bayesnas_graph.cli.fixed import as_subject, network_of
from bayesnas_graph.cli.options import DataDir, settings_options
from bayesnas_graph.cli.standing import step_time
from bayesnas_graph.cli.target import AllowPython
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.runs.settings import Settings, merged
from bayesnas_graph.train.config import EvalConfig

if TYPE_CHECKING:
    from bayesnas_graph.runs.subject import Subject
    from bayesnas_graph.train.appraise import Appraisal


@settings_options(EvalConfig, files=False)
def eval(
    *,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Folder of a run, or a file together with `--weights`.")
    ],
    weights: Annotated[Path | None, typer.Option(metavar="FILE", help="Weights, as safetensors.")] = None,
    settings: list[Settings],
    data_dir: DataDir = None,
    runs: Annotated[int, typer.Option(min=1, help="Number of measurements of each latency.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Measure a network: accuracy and loss on the test set, size, and how long it takes on this device."""
    from bayesnas_graph.runs.device import prepared
    from bayesnas_graph.runs.loading import loaded
    from bayesnas_graph.train.appraise import appraise

    with TemporaryDirectory() as temporary:
        if (target / "run.json").is_file():
            if weights is not None or any({"network", "parameters"} & one.values.keys() for one in settings):
                raise typer.BadParameter("a run has its own network and weights", param_hint="TARGET")
            written = Path(temporary) / "weights.safetensors"
            subject, config, weights, folder = _of_run(target, settings, written, allow_python=allow_python_ops)
        else:
            config, folder = merged(settings, EvalConfig), Path("data")
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
    run: Path, settings: list[Settings], written: Path, *, allow_python: bool
) -> tuple[Subject, EvalConfig, Path, Path]:
    """The network of a run, its settings as far as they matter here, its weights, and where its data are."""
    from bayesnas_graph.train.compress.source import kind_of

    kind = kind_of(run)
    if kind == "search":
        return _of_search(run, settings, written, allow_python=allow_python)
    return (_of_compression if kind == "compress" else _of_training)(run, settings, allow_python=allow_python)


def _of_search(
    run: Path, settings: list[Settings], weights: Path, *, allow_python: bool
) -> tuple[Subject, EvalConfig, Path, Path]:
    """The architecture that a search has found, with its weights, which are written into a file."""
    from bayesnas_graph.codegen.emit import as_state, emit
    from bayesnas_graph.derive import of_run
    from bayesnas_graph.language.json import fingerprint
    from bayesnas_graph.train.weights import write_weights

    found = of_run(run, allow_python=allow_python)
    assert found.searched is not None, "it is the architecture of a search"
    manifest = found.searched.manifest
    shared = set(EvalConfig.model_fields) - {"accumulate", "network", "parameters"}
    own = manifest.config.model_dump(include=shared, exclude_none=True)
    config = merged([Settings(Source(str(run), ""), own), *settings], EvalConfig)
    text, tensors = found.with_weights()
    state = as_state(tensors, {}, emit(text.graph, standalone=True))
    write_weights(weights, state, fingerprint(text.graph))
    return as_subject(run, text, allow_python=allow_python), config, weights, Path(manifest.data_dir)


def _of_training(run: Path, settings: list[Settings], *, allow_python: bool) -> tuple[Subject, EvalConfig, Path, Path]:
    """The network of a training, its settings as far as they matter here, its weights, and where its data are."""
    from bayesnas_graph.runs.subject import copy_of
    from bayesnas_graph.train.compress.source import check_ended
    from bayesnas_graph.train.folder import TrainFolder

    folder = TrainFolder(run)
    manifest = folder.training()
    check_ended(folder.weights, run, "train")
    shared = set(EvalConfig.model_fields) - {"accumulate"}  # which need not divide another batch
    own = manifest.config.model_dump(include=shared, exclude_none=True)
    config = merged([Settings(Source(str(folder.manifest_file), ""), own), *settings], EvalConfig)
    subject = copy_of(folder, manifest, manifest.config, allow_python=allow_python)
    return subject, config, folder.weights, Path(manifest.data_dir)


def _of_compression(
    run: Path, settings: list[Settings], *, allow_python: bool
) -> tuple[Subject, EvalConfig, Path, Path]:
    """What a compression has left, likewise."""
    from bayesnas_graph.train.compress.folder import CompressFolder
    from bayesnas_graph.train.compress.source import of_compression

    found, folder = of_compression(run, allow_python=allow_python), CompressFolder(run)
    assert found.settings is not None, "it is that of a run"
    shared = set(EvalConfig.model_fields) - {"accumulate", "network", "parameters"}
    own = found.settings.model_dump(include=shared, exclude_none=True)
    config = merged([Settings(Source(str(folder.manifest_file), ""), own), *settings], EvalConfig)
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
