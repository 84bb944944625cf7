"""Checks that a network fits a data set, and hints at how to make it fit."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from bayesnas_graph.data.checked import shape_text
from bayesnas_graph.data.datasets import DATASETS
from bayesnas_graph.data.model import Data, Shape
from bayesnas_graph.data.targets import TargetKind
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.words import counted


def check_fit(
    data: Data,
    network_name: str,
    inputs: tuple[Shape, ...],
    outputs: tuple[Shape, ...],
    parameters: Mapping[str, object],
    predicted: TargetKind = "classes",
) -> None:
    """Raise NasError unless the network takes one image, possibly flattened, and predicts what the data have."""
    problems = []
    if len(inputs) != 1:
        problems.append(_diagnostic(f"the network `{network_name}` has {len(inputs)} inputs, but data sets have one"))
    elif not takes(inputs[0], data.shape):
        message = _misfit(data, network_name, inputs[0])
        problems.append(_diagnostic(message, _help_with_input(data, inputs[0], outputs, parameters)))
    if len(outputs) != 1:
        problems.append(_diagnostic(f"the network `{network_name}` has {len(outputs)} outputs, but must have one"))
    elif predicted != data.targets:
        message = f"`{data.name}` has {_HAS[data.targets]}, but the network `{network_name}` predicts {predicted}"
        declared = f"declare the output as `{data.targets}({_sizes(data)})`"
        problems.append(_diagnostic(message, f"{declared}, or give {_GIVE[predicted]}"))
    elif outputs[0] != _output(data):
        actual = f"{outputs[0][0]} {data.targets}" if len(outputs[0]) == 1 else shape_text(outputs[0])
        message = f"`{data.name}` has {_how_many(data)}, but the network `{network_name}` outputs {actual}"
        problems.append(_diagnostic(message, _help_with_output(data, inputs, outputs[0], parameters)))
    if problems:
        raise NasError(problems)


_HAS: Mapping[TargetKind, str] = {
    "classes": "whole numbers as targets, which are classes",
    "values": "floating-point targets",
    "labels": "several labels for each image",
    "map": "a class for every pixel",
}
_GIVE: Mapping[TargetKind, str] = {
    "classes": "whole numbers as labels",
    "values": "floating-point numbers as targets",
    "labels": "a 0 or 1 for every label",
    "map": "a map of the classes of its pixels",
}


def _how_many(data: Data) -> str:
    """How many of its targets the data have."""
    count = data.classes
    by_kind: Mapping[TargetKind, str] = {
        "classes": f"{count} classes",
        "values": f"{counted(count, 'value')} for each image",
        "labels": f"{counted(count, 'label')} for each image",
        "map": f"one of {count} classes for each of {shape_text(data.shape[1:])} pixels",
    }
    return by_kind[data.targets]


def _output(data: Data) -> Shape:
    """The shape of the output for the targets of the data."""
    return (data.classes, *data.shape[1:]) if data.targets == "map" else (data.classes,)


def _sizes(data: Data) -> str:
    return ", ".join(map(str, _output(data)))


def takes(input_shape: Shape, shape: Shape) -> bool:
    """Return whether a network input accepts images of a shape: as they are, as sequences of pixels, or as vectors.

    >>> [takes(shape, (1, 28, 28)) for shape in ((1, 28, 28), (1, 784), (784,), (28, 28, 1))]
    [True, True, True, False]
    """
    return input_shape in (shape, (shape[0], prod(shape[1:])), (prod(shape),))


def _diagnostic(message: str, help: str = "choose another network with `--network`") -> Diagnostic:
    return Diagnostic("NAS504", message, help=help)


def _misfit(data: Data, network_name: str, input_shape: Shape) -> str:
    network = f"but the network `{network_name}` takes"
    if len(input_shape) == 1 < len(data.shape):
        values = f"{prod(data.shape):,} values"
        return (
            f"images of `{data.name}` are {shape_text(data.shape)}, {values}, {network} a vector of {input_shape[0]:,}"
        )
    return f"images of `{data.name}` are {shape_text(data.shape)}, {network} {shape_text(input_shape)}"


def _help_with_input(
    data: Data, input_shape: Shape, outputs: tuple[Shape, ...], parameters: Mapping[str, object]
) -> str:
    if data.shape[1:] == (1, 1) and "features" in parameters:  # a table
        return _set([("features", data.shape[0])])
    if len(data.shape) == len(input_shape) == 3:
        settings = []
        if data.shape[0] != input_shape[0]:
            settings.append(("channels", data.shape[0]))
        if data.shape[1:] != input_shape[1:]:
            settings.append(("size", data.shape[1]))
        square = data.shape[1] == data.shape[2] and input_shape[1] == input_shape[2]
        if all(name in parameters for name, _ in settings) and (square or data.shape[1:] == input_shape[1:]):
            return _set(settings)
    kind = {1: "vector", 2: "sequence"}.get(len(data.shape), "image")
    declared = f"`{kind}({', '.join(map(str, data.shape))})`"
    if len(input_shape) == 1 < len(data.shape):
        declared = f"`vector({prod(data.shape)})` to flatten the images, or as {declared}"
    if len(input_shape) == 2 < len(data.shape):
        declared = f"`sequence({data.shape[0]}, {prod(data.shape[1:])})` to read pixel after pixel, or as {declared}"
    return f"declare the input as {declared}{_fitting(input_shape, outputs, data.targets)}"


def _help_with_output(data: Data, inputs: tuple[Shape, ...], output: Shape, parameters: Mapping[str, object]) -> str:
    if "labels" in parameters and len(output) == 1:
        return _set([("labels", data.classes)])
    others = _fitting(inputs[0], (output,), data.targets) if len(inputs) == 1 else ""
    return f"declare the output as `{data.targets}({_sizes(data)})`{others}"


def _set(settings: list[tuple[str, int]]) -> str:
    return f"make it fit with `{' '.join(f'-p {name}={value}' for name, value in settings)}`"


def _fitting(input_shape: Shape, outputs: tuple[Shape, ...], kind: TargetKind) -> str:
    """A hint at the named data sets that fit the network unchanged."""
    names = [
        dataset.name
        for dataset in DATASETS.values()
        if kind == "classes"
        and outputs == ((dataset.classes,),)
        and (takes(input_shape, dataset.shape) or (dataset.any_shape and len(input_shape) == 3))
    ]
    return f"; unchanged, it fits {', '.join(f'`{name}`' for name in names)}" if names else ""
