"""Data from user code: `package.module:callable`."""

from __future__ import annotations

import importlib
from collections.abc import Sized
from math import inf, isfinite
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.data.checked import CheckedExamples, Items, error_text, reject, shape_text, value_text
from bayesnas_graph.data.content import SAMPLE, Part, Seen, checked, different_classes, look_at
from bayesnas_graph.data.model import Data, InMemory, Shape, Statistics
from bayesnas_graph.data.normalisation import statistics
from bayesnas_graph.data.targets import TYPES, TargetKind, kind_of

PARTS: tuple[Part, Part] = ("training", "testing")
MOST_EXAMPLES = 10**8  # of a part; their order alone takes 8 bytes each
MOST_CLASSES = 10**6
MOST_READ = 10**6  # examples that are read to find out how many classes there are


def load_custom(spec: str) -> Data:
    """Call `package.module:callable`, which returns `Data`, or a dataset for training and one for testing."""
    result: Any = _call(spec)
    if isinstance(result, Data):
        return _checked(result, spec)
    if not isinstance(result, tuple | list) or len(result) != 2:
        help = "return `(train, test)`, two datasets, or a `bayesnas_graph.data.Data`"
        reject(spec, f"returned {value_text(result)}", help)
    for dataset, part in zip(result, PARTS, strict=True):
        if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
            help = "return map-style datasets, which have `__len__` and `__getitem__`"
            reject(spec, f"returned {value_text(dataset)} as the dataset for {part}", help)
        _check_length(dataset, spec, part)
    train, test = (Items(dataset, spec, part) for dataset, part in zip(result, PARTS, strict=True))
    image, target = CheckedExamples(train, spec, "training").take(torch.tensor([0]))
    shape = tuple(image.shape[1:])
    if len(shape) != 3:
        help = "return images as channels x height x width, or height x width"
        reject(spec, f"has images of {shape_text(shape)}", help)
    names = _listed(train)
    kind = kind_of(target)
    if kind == "labels" or (kind == "values" and not names):
        return _of_vectors(train, test, spec, shape, target.shape[1], kind)
    if names:
        return _of_items(train, test, spec, shape, names, kind)
    return _of_unlisted_items(train, test, spec, shape, kind)


def _of_items(train: Items, test: Items, spec: str, shape: Shape, names: list[str], kind: TargetKind) -> Data:
    """The data of two datasets that list their classes. A sample is looked at."""
    fixed: TargetKind = "map" if kind == "map" else "classes"
    known, tests = (CheckedExamples(one, spec, one.part, shape, len(names), fixed) for one in (train, test))
    seen = Seen()
    data = Data(spec, known, tests, shape, len(names), statistics(known, SAMPLE, look=seen.look), targets=fixed)
    different = different_classes(spec, names, _listed(test) or names)
    return checked(data, {"training": seen, "testing": look_at(tests, all=False)[0]}, {}, names, different)


def _of_unlisted_items(train: Items, test: Items, spec: str, shape: Shape, kind: TargetKind) -> Data:
    """The data of two datasets with as many classes as the largest label says. All are read once."""
    for one in (train, test):
        if len(one) > MOST_READ:
            help = "give the dataset a list `classes`, so that its labels need not be read"
            reject(spec, f"has {len(one):,} examples for {one.part}, and does not list its classes", help)
    seen, labels = look_at(CheckedExamples(train, spec, train.part, shape, None, kind), all=True)
    classes = int(labels.max()) + 1
    if classes > MOST_CLASSES:
        help = f"number the classes 0, 1, 2, ..., up to {MOST_CLASSES:,} of them"
        reject(spec, f"gives the label {classes - 1} to image {int(labels.argmax())} for training", help)
    known, tests = (CheckedExamples(one, spec, one.part, shape, classes, kind) for one in (train, test))
    seen_tests, test_labels = look_at(tests, all=True)
    data = Data(spec, known, tests, shape, classes, statistics(known, SAMPLE), targets=kind)
    return checked(data, {"training": seen, "testing": seen_tests}, {"training": labels, "testing": test_labels})


def _of_vectors(train: Items, test: Items, spec: str, shape: Shape, count: int, kind: TargetKind) -> Data:
    """The data of two datasets with values or labels to predict. A sample is looked at."""
    known, tests = (CheckedExamples(one, spec, one.part, shape, count, kind) for one in (train, test))
    seen, values = look_at(known, all=False)
    seen_tests, test_values = look_at(tests, all=False)
    data = Data(spec, known, tests, shape, count, statistics(known, SAMPLE), targets=kind)
    return checked(data, {"training": seen, "testing": seen_tests}, {"training": values, "testing": test_values})


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
    for examples, part in zip((data.train, data.test), PARTS, strict=True):
        if not hasattr(examples, "take") or not hasattr(examples, "__len__"):
            reject(spec, f"has {value_text(examples)} for {part}, which lacks `take` or a length")
        _check_length(examples, spec, part)
    shape = data.shape
    if not isinstance(shape, tuple) or not shape or not all(isinstance(n, int) and n > 0 for n in shape):
        reject(spec, f"has {value_text(shape)} as its shape, not a tuple of positive integers")
    if not isinstance(data.classes, int) or not 1 <= data.classes <= MOST_CLASSES:
        reject(spec, f"has {value_text(data.classes)} as its number of classes")
    if data.targets not in TYPES:
        reject(
            spec,
            f"has {value_text(data.targets)} as its kind of targets",
            f"use {' or '.join(f'`{k}`' for k in TYPES)}",
        )
    known = data.statistics
    if not isinstance(known, Statistics) or {len(known.mean), len(known.deviation)} != {shape[0]}:
        reject(spec, f"lacks a mean and a deviation for each of its {shape[0]} channels")
    if not all(map(isfinite, known.mean)) or not all(0 < value < inf for value in known.deviation):
        reject(spec, "has a mean that is not finite, or a deviation that is not positive")
    seen: dict[Part, Seen] = {}
    labels: dict[Part, Tensor] = {}
    used = []
    for examples, part in zip((data.train, data.test), PARTS, strict=True):
        guarded = CheckedExamples(examples, spec, part, shape, data.classes, data.targets)
        in_memory = isinstance(examples, InMemory)
        seen[part], found = look_at(guarded, all=in_memory)
        if in_memory:
            labels[part] = found
        used.append(examples if in_memory else guarded)  # once is enough for tensors
    train, test = used
    return checked(Data(str(data.name), train, test, shape, data.classes, known, targets=data.targets), seen, labels)


def _check_length(dataset: Sized, spec: str, part: Part) -> None:
    try:
        length = len(dataset)
    except Exception as error:
        reject(spec, f"failed to return the number of examples for {part}: {error_text(error)}")
    if not length:
        reject(spec, f"has no examples for {part}", "return at least one")
    if length > MOST_EXAMPLES:
        reject(spec, f"has {length:,} examples for {part}", f"return at most {MOST_EXAMPLES:,}")


def _listed(items: Items) -> list[str]:
    """The names of the classes, if the dataset lists them in `classes`, as those of torchvision do."""
    listed = getattr(items.dataset, "classes", None)
    return list(map(str, listed)) if isinstance(listed, list | tuple) else []
