"""Data of a run that were given as Python objects: what is written about them, and whether they are the same again."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import torch
from torch import Tensor

from bayesnas_graph.data import Data
from bayesnas_graph.data.checked import shape_text
from bayesnas_graph.data.given import data_from
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.manifest import DataDescription

FROM_PYTHON = "data from Python"  # the setting `data` of a run whose data were given as objects
SAMPLE = 32  # examples of a part in a checksum


@dataclass(frozen=True, eq=False)
class GivenData:
    """Data given as Python objects, and their description."""

    data: Data
    about: DataDescription


def given_data(value: object) -> GivenData:
    """Return the data in Python objects. Raises NasError if they cannot be used."""
    given = data_from(value, "data")
    data = given.data
    images, labels = _sample(data)
    again, _ = _sample(data)  # other images if the dataset changes them at random
    about = DataDescription(
        kind=given.kind,
        train=len(data.train),
        test=len(data.test),
        shape=data.shape,
        classes=data.classes,
        labels=_checksum(labels),
        images=_checksum(images) if torch.equal(images, again) else None,
        notes=given.notes,
    )
    return GivenData(data, about)


def _sample(data: Data) -> tuple[Tensor, Tensor]:
    """Some examples of both parts, always the same."""
    parts = [part.take(torch.arange(SAMPLE) * len(part) // SAMPLE) for part in (data.train, data.test)]
    images = torch.cat([images.float() for images, _ in parts])
    return images, torch.cat([labels for _, labels in parts])


def _checksum(values: Tensor) -> str:
    return blake2b(values.contiguous().cpu().numpy().tobytes(), digest_size=16).hexdigest()


def check_same_data(path: Path, about: DataDescription, before: DataDescription | None) -> None:
    """Raise NasError if a run was started with other data."""
    if before is None:
        message = f"`{path}` was started with data that its settings name, not with data from Python"
        raise NasError([Diagnostic("NAS510", message, help="resume it without `data`")])
    pairs = zip(_facts(before), _facts(about), strict=True)
    found = next((f"they had {old}, these have {new}" for old, new in pairs if old != new), None)
    if found is None and about.labels != before.labels:
        found = "the labels are not the same"
    if found is None and about.images and before.images and about.images != before.images:
        found = "the images are not the same"
    if found is not None:
        message = f"`{path}` was started with other data: {found}"
        raise NasError([Diagnostic("NAS510", message, help="give the same data, or start another run")])


def _facts(about: DataDescription) -> tuple[str, ...]:
    return (
        f"{about.train:,} examples for training",
        f"{about.test:,} examples for testing",
        f"images of {shape_text(about.shape)}",
        f"{about.classes} classes",
    )


def not_given() -> NasError:
    """The error for data from Python that are needed again."""
    message = "the run has data from Python, which are not in its folder"
    help = "give them again in Python, as `data=(train, test)`"
    return NasError([Diagnostic("NAS510", message, help=help)])
