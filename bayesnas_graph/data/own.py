"""Data that the user's own code makes, because the user named it on the command line."""

from __future__ import annotations

import importlib
from collections.abc import Sized
from typing import Any

import torch

from bayesnas_graph.data.guard import Checked, Items, by, shown, told, unusable
from bayesnas_graph.data.measure import statistics
from bayesnas_graph.data.model import Data, InMemory, Statistics
from bayesnas_graph.data.order import pieces

MEASURED = 2_000  # examples that statistics are computed from, for all of these must be fetched


def load_own(spec: str) -> Data:
    """What `package.module:callable` gives: `Data`, or a dataset for training and one for testing."""
    given: Any = _call(spec)
    if isinstance(given, Data):
        return _checked(given, spec)
    if not isinstance(given, tuple | list) or len(given) != 2:
        help = "return `(train, test)`, two datasets, or a `bayesnas_graph.data.Data`"
        unusable(spec, f"returned {shown(given)}", help)
    for dataset, purpose in zip(given, ("training", "testing"), strict=True):
        if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
            help = "a map-style dataset has `__len__` and `__getitem__`"
            unusable(spec, f"returned {shown(dataset)} as the dataset for {purpose}", help)
        _check_length(dataset, spec, purpose)
    train, test = (Items(dataset, spec) for dataset in given)
    shape = tuple(Checked(train, spec).take(torch.tensor([0]))[0].shape[1:])
    if len(shape) != 3:
        unusable(spec, f"has images of {by(shape)}", "an image is channels x height x width, or height x width")
    classes = _count_classes(train, spec)
    learnt, tested = (Checked(items, spec, shape, classes) for items in (train, test))
    tested.take(torch.tensor([0]))
    return Data(spec, learnt, tested, shape, classes, statistics(learnt, MEASURED))


def _call(spec: str) -> object:
    """What the callable returns. Whatever it raises is told as a diagnostic."""
    module_name, _, path = spec.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *path.split("."))):
        unusable(
            spec, "is neither a data set nor of the form `package.module:callable`", "write `folder:PATH` for a folder"
        )
    try:
        found: Any = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        help = "install it, or put its folder on PYTHONPATH"
        unusable(spec, f"cannot be imported: there is no module `{error.name}`", help)
    except (Exception, SystemExit) as error:
        unusable(spec, f"cannot be imported: {told(error)}", "correct the module, or the name after the colon")
    if not callable(found):
        unusable(spec, f"is {shown(found)}, which cannot be called", "name a function that returns the data")
    try:
        return found()
    except (Exception, SystemExit) as error:
        unusable(spec, f"failed: {told(error)}", "it is called without arguments; correct what it does")


def _checked(data: Any, spec: str) -> Data:
    """The same data, watched."""
    for examples, purpose in ((data.train, "training"), (data.test, "testing")):
        if not hasattr(examples, "take") or not hasattr(examples, "__len__"):
            unusable(spec, f"has {shown(examples)} for {purpose}, which has no `take` or no length")
        _check_length(examples, spec, purpose)
    shape = data.shape
    if not isinstance(shape, tuple) or not shape or not all(isinstance(n, int) and n > 0 for n in shape):
        unusable(spec, f"has {shown(shape)} as its shape, which is no tuple of positive numbers")
    if not isinstance(data.classes, int) or data.classes < 1:
        unusable(spec, f"has {shown(data.classes)} as its number of classes")
    known = data.statistics
    if not isinstance(known, Statistics) or {len(known.mean), len(known.deviation)} != {shape[0]}:
        unusable(spec, f"has no mean and deviation for each of its {shape[0]} channels")
    train, test = (Checked(examples, spec, shape, data.classes) for examples in (data.train, data.test))
    for part in (train, test):
        part.take(torch.tensor([0]))
    return Data(str(data.name), _direct(train), _direct(test), shape, data.classes, known)


def _direct(checked: Checked) -> Checked | InMemory:
    """Examples in memory are looked at once, and then used as they are."""
    examples = checked.examples
    if not isinstance(examples, InMemory):
        return checked
    checked.take(torch.arange(len(examples)))
    return examples


def _check_length(dataset: Sized, spec: str, purpose: str) -> None:
    try:
        length = len(dataset)
    except Exception as error:
        unusable(spec, f"failed when it was asked how many examples for {purpose} there are: {told(error)}")
    if not length:
        unusable(spec, f"has no examples for {purpose}", "there must be some")


def _count_classes(train: Items, spec: str) -> int:
    """How many classes there are: as many as the dataset lists, as torchvision's do, or else as its labels say."""
    listed = getattr(train.dataset, "classes", None)
    if isinstance(listed, list | tuple) and listed:
        return len(listed)
    checked = Checked(train, spec)
    largest = max(int(checked.take(part)[1].max()) for part in pieces(torch.arange(len(train)), 500))
    return max(largest + 1, 1)
