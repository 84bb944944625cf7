"""Data from user code: `package.module:callable`."""

from __future__ import annotations

import importlib
from collections.abc import Sized
from typing import Any

import torch

from bayesnas_graph.data.checked import CheckedExamples, Items, error_text, reject, shape_text, value_text
from bayesnas_graph.data.model import Data, InMemory, Statistics
from bayesnas_graph.data.normalisation import statistics
from bayesnas_graph.data.sampling import chunks

STATISTICS_SAMPLE = 2_000  # examples that statistics are computed from; each must be fetched


def load_custom(spec: str) -> Data:
    """Call `package.module:callable`, which returns `Data`, or a dataset for training and one for testing."""
    result: Any = _call(spec)
    if isinstance(result, Data):
        return _checked(result, spec)
    if not isinstance(result, tuple | list) or len(result) != 2:
        help = "return `(train, test)`, two datasets, or a `bayesnas_graph.data.Data`"
        reject(spec, f"returned {value_text(result)}", help)
    for dataset, purpose in zip(result, ("training", "testing"), strict=True):
        if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
            help = "return map-style datasets, which have `__len__` and `__getitem__`"
            reject(spec, f"returned {value_text(dataset)} as the dataset for {purpose}", help)
        _check_length(dataset, spec, purpose)
    train, test = (Items(dataset, spec) for dataset in result)
    shape = tuple(CheckedExamples(train, spec).take(torch.tensor([0]))[0].shape[1:])
    if len(shape) != 3:
        help = "return images as channels x height x width, or height x width"
        reject(spec, f"has images of {shape_text(shape)}", help)
    classes = _count_classes(train, spec)
    checked, checked_test = (CheckedExamples(items, spec, shape, classes) for items in (train, test))
    checked_test.take(torch.tensor([0]))
    return Data(spec, checked, checked_test, shape, classes, statistics(checked, STATISTICS_SAMPLE))


def _call(spec: str) -> object:
    """The result of the callable; its exceptions become diagnostics."""
    module_name, _, path = spec.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *path.split("."))):
        help = "write `folder:PATH` for a folder"
        reject(spec, "is neither a data set nor of the form `package.module:callable`", help)
    try:
        function: Any = importlib.import_module(module_name)
        for part in path.split("."):
            function = getattr(function, part)
    except ModuleNotFoundError as error:
        help = "install it, or put its folder on PYTHONPATH"
        reject(spec, f"cannot be imported: no module `{error.name}`", help)
    except (Exception, SystemExit) as error:
        reject(spec, f"cannot be imported: {error_text(error)}", "fix the module, or the name after the colon")
    if not callable(function):
        reject(spec, f"is {value_text(function)}, which is not callable", "name a function that returns the data")
    try:
        return function()
    except (Exception, SystemExit) as error:
        reject(spec, f"failed: {error_text(error)}", "fix the function, which is called without arguments")


def _checked(data: Any, spec: str) -> Data:
    """The same data, with checked examples."""
    for examples, purpose in ((data.train, "training"), (data.test, "testing")):
        if not hasattr(examples, "take") or not hasattr(examples, "__len__"):
            reject(spec, f"has {value_text(examples)} for {purpose}, which lacks `take` or a length")
        _check_length(examples, spec, purpose)
    shape = data.shape
    if not isinstance(shape, tuple) or not shape or not all(isinstance(n, int) and n > 0 for n in shape):
        reject(spec, f"has {value_text(shape)} as its shape, not a tuple of positive integers")
    if not isinstance(data.classes, int) or data.classes < 1:
        reject(spec, f"has {value_text(data.classes)} as its number of classes")
    known = data.statistics
    if not isinstance(known, Statistics) or {len(known.mean), len(known.deviation)} != {shape[0]}:
        reject(spec, f"lacks a mean and a deviation for each of its {shape[0]} channels")
    train, test = (CheckedExamples(examples, spec, shape, data.classes) for examples in (data.train, data.test))
    for part in (train, test):
        part.take(torch.tensor([0]))
    return Data(str(data.name), _unwrap(train), _unwrap(test), shape, data.classes, known)


def _unwrap(checked: CheckedExamples) -> CheckedExamples | InMemory:
    """Examples in memory are checked once, here, and then used directly."""
    examples = checked.examples
    if not isinstance(examples, InMemory):
        return checked
    checked.take(torch.arange(len(examples)))
    return examples


def _check_length(dataset: Sized, spec: str, purpose: str) -> None:
    try:
        length = len(dataset)
    except Exception as error:
        reject(spec, f"failed to return the number of examples for {purpose}: {error_text(error)}")
    if not length:
        reject(spec, f"has no examples for {purpose}", "return at least one")


def _count_classes(train: Items, spec: str) -> int:
    """The number of classes: of the dataset's `classes`, as in torchvision, or else the largest label plus one."""
    listed = getattr(train.dataset, "classes", None)
    if isinstance(listed, list | tuple) and listed:
        return len(listed)
    checked = CheckedExamples(train, spec)
    largest = max(int(checked.take(part)[1].max()) for part in chunks(torch.arange(len(train)), 500))
    return max(largest + 1, 1)
