"""What is in a data set: whether there is anything to learn from, and what is probably a mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal
from unicodedata import normalize

import torch
from torch import Tensor

from bayesnas_graph.data.model import Data, Examples, InMemory
from bayesnas_graph.data.sampling import chunks, generator
from bayesnas_graph.data.targets import doubtful_labels, doubtful_values
from bayesnas_graph.diagnostics import Diagnostic, NasError, Severity

Part = Literal["training", "testing"]

PIECE = 500  # examples at a time
SAMPLE = 2_000  # examples that are looked at if all would take long
MOST_NAMED = 3  # classes in a message


@dataclass
class Seen:
    """What was seen of the images of a part."""

    images: int = 0
    first: Tensor | None = None
    differ: bool = False  # whether there are two different images
    varied: Tensor | None = None  # for each channel, whether there are two different pixels

    @property
    def settled(self) -> bool:
        """Whether more images cannot change anything but their number."""
        return self.differ and self.varied is not None and bool(self.varied.all())

    def look(self, images: Tensor) -> None:
        """Look at more images."""
        self.images += len(images)
        if self.settled or not len(images):
            return
        if self.first is None:
            self.first = images[:1].clone()
        pixels, first = (x.flatten(2) if x.ndim > 2 else x.unsqueeze(1) for x in (images, self.first))
        varied = (pixels != first[:, :, :1]).any(2).any(0)
        self.varied = varied if self.varied is None else self.varied | varied
        self.differ = self.differ or bool((images != self.first).any())


def look_at(examples: Examples, *, all: bool) -> tuple[Seen, Tensor]:
    """Look at all examples or at a sample, always the same, some at a time. Return what was seen, and the labels."""
    if isinstance(examples, InMemory):
        return _look_at_tensors(examples), examples.labels
    indices = torch.arange(len(examples))
    if not all and len(examples) > SAMPLE:
        indices = torch.randperm(len(examples), generator=generator("content"))[:SAMPLE].sort().values
    seen, labels = Seen(), []
    for piece in chunks(indices, PIECE):
        images, found = examples.take(piece)
        seen.look(images)
        labels.append(found)
    return seen, torch.cat(labels)


def _look_at_tensors(examples: InMemory) -> Seen:
    seen = Seen()
    for start in range(0, len(examples), PIECE):
        seen.look(examples.images[start : start + PIECE])
        if seen.settled:
            break
    return replace(seen, images=len(examples))


def checked(
    data: Data,
    seen: dict[Part, Seen],
    labels: dict[Part, Tensor],
    names: Sequence[str] = (),
    more: Sequence[Diagnostic] = (),
) -> Data:
    """Return the data with all warnings about them. Raises NasError if there is nothing to learn from.

    Classes are given for parts of which all are known, other targets for any; and the names of classes, if any.
    """
    lengths = {"training": len(data.train), "testing": len(data.test)}
    problems = [problem for part, one in seen.items() for problem in _about_images(data.name, part, one, lengths[part])]
    for part, found in labels.items():
        is_class = data.targets in ("classes", "map")
        problems += _about_classes(data, part, found, names) if is_class else _about_vectors(data, part, found)
    problems += [*_about_names(data.name, names), *more]
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise NasError(errors)
    return replace(data, warnings=tuple(problems))


def _about_images(name: str, part: Part, seen: Seen, length: int) -> list[Diagnostic]:
    """A part without any variation, which is an error in training; or a channel without any."""
    assert seen.varied is not None, "every part has an example"
    which = "all" if seen.images == length else f"{seen.images:,} randomly chosen"
    help = "look at the images, and at how they are read"
    severity: Severity = "error" if part == "training" else "warning"
    if not seen.varied.any():
        message = f"{which} images of `{name}` for {part} are blank: every pixel has the same colour"
        return [Diagnostic("NAS508", message, help=help, severity=severity)]
    if not seen.differ and length > 1:
        message = f"{which} images of `{name}` for {part} are the same"
        return [Diagnostic("NAS508", message, help=help, severity=severity)]
    if part == "testing" or seen.varied.all():
        return []
    blank = (~seen.varied).nonzero().flatten().tolist()
    message = f"channel {blank[0]} is the same everywhere in {which} images of `{name}` for {part}"
    return [_warning(message, "remove the channel, or look at how the images are read")]


def _about_classes(data: Data, part: Part, labels: Tensor, names: Sequence[str]) -> list[Diagnostic]:
    """Classes without examples."""
    empty = (torch.bincount(labels.flatten(), minlength=data.classes) == 0).nonzero().flatten().tolist()
    if not empty:
        return []
    shown = ", ".join(f"{i} (`{names[i]}`)" if i < len(names) else str(i) for i in empty[:MOST_NAMED])
    more = f" and {len(empty) - MOST_NAMED:,} more" if len(empty) > MOST_NAMED else ""
    message = f"`{data.name}` has no examples for {part} of class {shown}{more}"
    cannot = "a network cannot learn" if part == "training" else "it is not measured how well a network knows"
    return [_warning(message, f"{cannot} a class without examples: check the labels")]


def _about_vectors(data: Data, part: Part, targets: Tensor) -> list[Diagnostic]:
    """Values that do not vary or are not standardised, and labels that do not vary."""
    if part == "testing":
        return []
    if data.targets == "labels":
        problem, help = doubtful_labels(targets), "a network learns nothing about it: check the labels"
    else:
        problem = doubtful_values(targets)
        help = "standardise the values: subtract the mean of the training set, and divide by its standard deviation"
    return [] if problem is None else [_warning(f"{problem}, in `{data.name}` for {part}", help)]


def _about_names(name: str, names: Sequence[str]) -> list[Diagnostic]:
    """Two classes of the same name, except for case and spaces."""
    first: dict[str, int] = {}
    found = []
    for i, called in enumerate(names):
        other = first.setdefault(normalize("NFKC", called).casefold().strip(), i)
        if other != i:
            message = f"classes {other} and {i} of `{name}` are called `{names[other]}` and `{called}`"
            found.append(_warning(message, "if they are the same, make them one class"))
    return found


def different_classes(name: str, train: Sequence[str], test: Sequence[str]) -> list[Diagnostic]:
    """A warning if training and testing list different classes."""
    help = "a label should mean the same in both: check how the lists are made"
    for i, (one, other) in enumerate(zip(train, test, strict=False)):
        if one != other:
            return [_warning(f"class {i} of `{name}` is `{one}` for training, but `{other}` for testing", help)]
    if len(train) == len(test):
        return []
    return [_warning(f"`{name}` lists {len(train):,} classes for training, but {len(test):,} for testing", help)]


def same_files(name: str, one: str, other: str) -> Diagnostic:
    """The warning for two classes that are made of the same files."""
    return _warning(f"classes `{one}` and `{other}` of `{name}` have the same files", "remove one of them")


def _warning(message: str, help: str) -> Diagnostic:
    return Diagnostic("NAS509", message, help=help, severity="warning")
