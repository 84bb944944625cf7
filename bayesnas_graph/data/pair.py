"""Data made of a part for training and one for testing, checked."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.data.checked import CheckedExamples, reject, shape_text, value_text
from bayesnas_graph.data.content import SAMPLE, Part, Seen, checked, different_classes, look_at
from bayesnas_graph.data.model import Data, Examples, InMemory, Shape, Statistics
from bayesnas_graph.data.normalisation import statistics
from bayesnas_graph.data.part import MOST_READ, GivenPart, check_length
from bayesnas_graph.data.targets import TYPES, TargetKind, kind_of

MOST_CLASSES = 10**6


def data_of_parts(train: GivenPart, test: GivenPart, spec: str) -> Data:
    """Return the data of two parts. Raises NasError if they cannot be used."""
    first, target = CheckedExamples(train.examples, spec, "training").take(torch.tensor([0]))
    shape = tuple(first.shape[1:])
    if len(shape) != 3:
        help = "return images as channels x height x width, or height x width"
        reject(spec, f"has images of {shape_text(shape)}", help)
    kind = kind_of(target)
    if kind == "labels" or (kind == "values" and not train.classes):
        return _of_vectors(train, test, spec, shape, target.shape[1], kind)
    fixed: TargetKind = "map" if kind == "map" else "classes"
    of_parts = _of_listed if train.classes else _of_unlisted
    return of_parts(train, test, spec, shape, fixed)


def _of_listed(train: GivenPart, test: GivenPart, spec: str, shape: Shape, kind: TargetKind) -> Data:
    """The data of two parts with a list of classes. A sample is looked at; or all, if they are in memory."""
    names = train.classes
    known, tests = (CheckedExamples(one.examples, spec, one.part, shape, len(names), kind) for one in (train, test))
    seen = Seen()
    known_statistics = statistics(known, SAMPLE, look=seen.look)
    if isinstance(train.examples, InMemory):
        seen, _ = look_at(known, all=True)
    seen_tests, _ = look_at(tests, all=isinstance(test.examples, InMemory))
    data = Data(spec, _once(known), _once(tests), shape, len(names), known_statistics, targets=kind)
    labels = {one.part: one.examples.labels for one in (train, test) if isinstance(one.examples, InMemory)}
    different = different_classes(spec, names, test.classes or names)
    return checked(data, {"training": seen, "testing": seen_tests}, labels, names, different)


def _of_unlisted(train: GivenPart, test: GivenPart, spec: str, shape: Shape, kind: TargetKind) -> Data:
    """The data of two parts with as many classes as the largest label says. All are read once."""
    for one in (train, test):
        if len(one.examples) > MOST_READ and not isinstance(one.examples, InMemory):
            help = "give the dataset a list `classes`, so that its labels need not be read"
            reject(spec, f"has {len(one.examples):,} examples for {one.part}, and does not list its classes", help)
    seen, labels = look_at(CheckedExamples(train.examples, spec, train.part, shape, None, kind), all=True)
    classes = int(labels.max()) + 1
    if classes > MOST_CLASSES:
        help = f"number the classes 0, 1, 2, ..., up to {MOST_CLASSES:,} of them"
        reject(spec, f"gives the label {classes - 1} to image {int(labels.argmax())} for training", help)
    known, tests = (CheckedExamples(one.examples, spec, one.part, shape, classes, kind) for one in (train, test))
    seen_tests, test_labels = look_at(tests, all=True)
    data = Data(spec, _once(known), _once(tests), shape, classes, statistics(known, SAMPLE), targets=kind)
    return checked(data, {"training": seen, "testing": seen_tests}, {"training": labels, "testing": test_labels})


def _of_vectors(train: GivenPart, test: GivenPart, spec: str, shape: Shape, count: int, kind: TargetKind) -> Data:
    """The data of two parts with values or labels to predict. A sample is looked at; or all, if they are in memory."""
    known, tests = (CheckedExamples(one.examples, spec, one.part, shape, count, kind) for one in (train, test))
    seen, found = look_at(known, all=isinstance(train.examples, InMemory))
    seen_tests, test_found = look_at(tests, all=isinstance(test.examples, InMemory))
    data = Data(spec, _once(known), _once(tests), shape, count, statistics(known, SAMPLE), targets=kind)
    return checked(data, {"training": seen, "testing": seen_tests}, {"training": found, "testing": test_found})


def _once(examples: CheckedExamples) -> Examples:
    """Examples that need not be checked again: tensors, all of which have been looked at."""
    return examples.examples if isinstance(examples.examples, InMemory) else examples


def checked_data(data: Any, spec: str) -> Data:
    """Return data that a user made, with checked examples. Raises NasError if they cannot be used."""
    parts: tuple[tuple[Any, Part], ...] = ((data.train, "training"), (data.test, "testing"))
    for examples, part in parts:
        if not hasattr(examples, "take") or not hasattr(examples, "__len__"):
            reject(spec, f"has {value_text(examples)} for {part}, which lacks `take` or a length")
        check_length(examples, spec, part)
    shape = data.shape
    if not isinstance(shape, tuple) or not shape or not all(isinstance(n, int) and n > 0 for n in shape):
        reject(spec, f"has {value_text(shape)} as its shape, not a tuple of positive integers")
    if not isinstance(data.classes, int) or not 1 <= data.classes <= MOST_CLASSES:
        reject(spec, f"has {value_text(data.classes)} as its number of classes")
    if data.targets not in TYPES:
        help = f"use {' or '.join(f'`{kind}`' for kind in TYPES)}"
        reject(spec, f"has {value_text(data.targets)} as its kind of targets", help)
    known = data.statistics
    if not isinstance(known, Statistics) or {len(known.mean), len(known.deviation)} != {shape[0]}:
        reject(spec, f"lacks a mean and a deviation for each of its {shape[0]} channels")
    if not all(map(isfinite, known.mean)) or not all(0 < value < inf for value in known.deviation):
        reject(spec, "has a mean that is not finite, or a deviation that is not positive")
    seen: dict[Part, Seen] = {}
    labels: dict[Part, Tensor] = {}
    used = []
    for examples, part in parts:
        guarded = CheckedExamples(examples, spec, part, shape, data.classes, data.targets)
        in_memory = isinstance(examples, InMemory)
        seen[part], found = look_at(guarded, all=in_memory)
        if in_memory:
            labels[part] = found
        used.append(_once(guarded))
    train, test = used
    return checked(Data(str(data.name), train, test, shape, data.classes, known, targets=data.targets), seen, labels)
