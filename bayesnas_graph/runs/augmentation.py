"""The settings of augmentation, and which of them suit the data."""

from __future__ import annotations

from dataclasses import fields
from typing import TypeVar

from bayesnas_graph.data import Augmentation, Data, Mixing
from bayesnas_graph.data.custom_augment import CustomAugmentation
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import named_shape
from bayesnas_graph.runs.config.groups import DataSettings

FOR_IMAGES = ("crop", "flip", "cutout", "resized_crop", "jitter", "rand_augment", "cutmix")  # settings that need images
NOT_FOR_MAPS = ("crop", "pad", "resized_crop", "rand_augment", "augment")  # a map would have to move with its image
AUGMENTATION = (*FOR_IMAGES, "rand_magnitude", "mixup", "augment")  # all settings
PARTS = {"crop": 8, "cutout": 2}  # a default that is as long as a side of an image becomes this part of the side

C = TypeVar("C", bound=DataSettings)


def augmentation_of(config: DataSettings) -> Augmentation:
    """Return the augmentation of single images."""
    names = {field.name for field in fields(Augmentation)} - {"custom"}
    custom = None if config.augment is None else CustomAugmentation.of(config.augment)
    return Augmentation(**{name: getattr(config, name) for name in names}, custom=custom)


def mixing_of(config: DataSettings, data: Data) -> Mixing | None:
    """Return how batches are mixed; None if they are not."""
    return Mixing(config.mixup, config.cutmix, data.classes) if config.mixup or config.cutmix else None


def fitted(config: C, data: Data) -> C:
    """Return the settings with defaults of augmentation that suit the data. Values that were given stay."""
    if not _has_images(data):
        suitable = {key: DataSettings.model_fields[key].default for key in FOR_IMAGES}
    elif data.targets == "map":
        suitable = {key: DataSettings.model_fields[key].default for key in NOT_FOR_MAPS}
    else:
        side = min(data.shape[1:])
        suitable = {key: side // part for key, part in PARTS.items() if getattr(config, key) >= side}
    return config.model_copy(update={key: suitable[key] for key in suitable.keys() - config.model_fields_set})


def changes(before: DataSettings, after: DataSettings, data: Data) -> tuple[str, ...]:
    """Return lines about the settings of augmentation that `fitted` changed."""
    changed = [key for key in FOR_IMAGES if getattr(before, key) != getattr(after, key)]
    off = [f"`{key}`" for key in changed if not getattr(after, key)]
    smaller = [key for key in changed if getattr(after, key)]
    said = [f"`{key}` is {getattr(after, key)} instead of {getattr(before, key)}" for key in smaller]
    if off:
        said.append(f"{' and '.join(off)} {'is' if len(off) == 1 else 'are'} off")
    return tuple(f"{text}: examples of `{data.name}` are {_named(data)}" for text in said)


def check_augmentation(config: DataSettings, data: Data) -> None:
    """Raise NasError if the data cannot be augmented as the settings say."""
    given = [key for key in FOR_IMAGES if getattr(config, key)]
    if given and not _has_images(data):
        message = f"`{data.name}` cannot be augmented with `{given[0]}`: its examples are {_named(data)}"
        off = " ".join(f"-s {key}={'false' if key == 'flip' else 0}" for key in given)
        help = f"leave out {' and '.join(f'`{key}`' for key in given)}: `{off}`"
        raise NasError([Diagnostic("NAS504", message, help=help)])
    moved = [key for key in NOT_FOR_MAPS if getattr(config, key)] if data.targets == "map" else []
    if moved:
        message = f"`{data.name}` cannot be augmented with `{moved[0]}`: its examples are {_named(data)}"
        help = f"leave out {' and '.join(f'`{key}`' for key in moved)}; `flip` moves the classes too"
        raise NasError([Diagnostic("NAS504", message, help=help)])
    _ = augmentation_of(config)  # imports code early


def _has_images(data: Data) -> bool:
    """Return whether examples are images, and not rows of a table, which have one pixel."""
    return len(data.shape) == 3 and data.shape[1:] != (1, 1)


def _named(data: Data) -> str:
    if data.targets == "map":
        return "images with a class for every pixel"
    return "rows of a table" if data.shape[1:] == (1, 1) else named_shape(data.shape)
