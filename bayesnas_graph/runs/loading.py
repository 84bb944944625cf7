"""Loading data and batches for a run."""

from __future__ import annotations

from math import prod
from pathlib import Path

from bayesnas_graph.data import Augmentation, Data, Loading, check_fit, load, padded
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph, TokenShape, named_shape
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.runs.config.groups import DataSettings, WeightSettings
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.objectives import OBJECTIVES
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.subject import Subject


def loading(data: Data, graph: Graph, config: DataSettings, seed: int, device: Device) -> Loading:
    """Return how a process loads its share of the batches; flattened if the network takes vectors or sequences."""
    (input_shape,) = (node.shape for node in graph if node.op.is_input)
    return Loading(
        batch=config.batch,
        seed=seed,
        augmentation=Augmentation(crop=config.crop, flip=config.flip, cutout=config.cutout),
        statistics=data.statistics,
        device=device.torch_device,
        workers=config.workers,
        rank=device.processes.rank,
        world=device.processes.world,
        channels_last=device.channels_last,
        on_device=config.data_share,
        flat=len(input_shape) if len(input_shape) < len(data.shape) else 0,
    )


def load_data(subject: Subject, config: DataSettings, seed: int, data_dir: Path, processes: Processes) -> Data:
    """Load the data of a run. Raises NasError without a data set, or if batches cannot be divided."""
    if config.data is None:
        help = "name some, such as `--data digits`; `bayesnas-graph data list` lists them"
        raise NasError([Diagnostic("NAS601", f"no data to {config.verb} on", help=help)])
    if config.batch % (config.accumulate * processes.world):
        message = f"a batch of {config.batch} cannot be divided among {processes.world} processes"
        parts = f" in {config.accumulate} parts each" if config.accumulate > 1 else ""
        help = f"set `batch` to a multiple of {config.accumulate * processes.world}"
        raise NasError([Diagnostic("NAS601", message + parts, help=help)])
    shape = subject.network.inputs[0].shape if subject.network.inputs else None
    if shape is not None and len(shape) == 3:
        shape = (shape[0], *(max(1, side - 2 * config.pad) for side in shape[1:]))
    data = padded(load(config.data, data_dir, image_shape=shape, seed=seed), config.pad)
    _check_smoothing(subject.network, config)
    if data.targets == "map":
        _check_maps(data, config)
    changes = [name for name in ("crop", "flip", "cutout") if getattr(config, name)]
    if changes and len(data.shape) != 3:
        message = f"`{data.name}` cannot be augmented with `{changes[0]}`: its examples are {named_shape(data.shape)}"
        raise NasError([Diagnostic("NAS504", message, help=f"leave out {' and '.join(f'`{c}`' for c in changes)}")])
    return data


def _check_maps(data: Data, config: DataSettings) -> None:
    """Raise NasError if images were to get pixels that have no class."""
    padded = [name for name in ("crop", "pad") if getattr(config, name)]
    if padded:
        message = f"`{padded[0]}` adds pixels around images, but those of `{data.name}` have a class for every pixel"
        help = f"set {' and '.join(f'`{name}`' for name in padded)} to 0"
        raise NasError([Diagnostic("NAS504", message, help=help)])


def _check_smoothing(network: Network, config: DataSettings) -> None:
    """Raise NasError if labels are to be smoothed where there are none."""
    predicted = network.outputs[0].predicts
    if isinstance(config, WeightSettings) and config.label_smoothing and not OBJECTIVES[predicted].smooths:
        message = f"`label_smoothing` is for classes, but the network `{network.name}` predicts {predicted}"
        raise NasError([Diagnostic("NAS601", message, help="leave it out")])


def check_network_fits(network: Network, data: Data) -> None:
    """Raise NasError if data do not fit a network."""
    inputs, outputs = (tuple(kind.shape for kind in kinds) for kinds in (network.inputs, network.outputs))
    if any(isinstance(shape, TokenShape) for shape in inputs):
        help = "there is no data set of tokens yet: train the exported network with your own program"
        message = f"the network `{network.name}` takes tokens, but `{data.name}` has images"
        raise NasError([Diagnostic("NAS504", message, help=help)])
    parameters = {name: show(value) for name, value in network.arguments}
    check_fit(data, network.name, inputs, outputs, parameters, network.outputs[0].predicts)


def check_batch_norms(graph: Graph, config: DataSettings) -> None:
    """Raise NasError if a batch norm would see a single value at a time."""
    alone = [node.name for node in graph if node.op.uses_batch_statistics and prod(node.shape[1:]) == 1]
    if alone and config.batch == config.accumulate:
        message = f"`{alone[0]}` normalises over samples, but each part of a batch has only one"
        raise NasError([Diagnostic("NAS601", message, help="increase `batch`, or reduce `accumulate`")])
