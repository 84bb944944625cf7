"""Images in folders, one folder per class, read when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch
from torch import Tensor

from bayesnas_graph.data.measure import statistics
from bayesnas_graph.data.model import Data, Shape
from bayesnas_graph.data.order import split
from bayesnas_graph.diagnostics import Diagnostic, NasError

ENDINGS = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})
MODES = {1: "L", 3: "RGB"}  # of Pillow, by number of channels
HELD_BACK = 0.1  # of the images are for testing, where there is no folder for that
MEASURED = 2_000  # images that statistics are computed from, for all of these must be read

Classes = dict[str, list[Path]]  # the images of every class


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Examples in image files, converted and resized to one shape."""

    paths: tuple[Path, ...]
    labels: Tensor
    shape: Shape

    def __len__(self) -> int:
        return len(self.paths)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        images = torch.empty(len(indices), *self.shape, dtype=torch.uint8)
        for image, index in zip(images, indices.tolist(), strict=True):
            image.copy_(read_image(self.paths[index], self.shape))
        return images, self.labels[indices]


def load_folder(root: Path, shape: Shape) -> Data:
    """The images under `root/train` and `root/test` or `root/val`; or all under `root`, a tenth for testing."""
    _check(root, shape)
    if (root / "train").is_dir():
        train, test = _classes(root / "train"), _classes(_tests(root))
        strange = sorted(test.keys() - train.keys())
        if strange:
            _unusable(f"the class `{strange[0]}` of `{_tests(root)}` is not in `{root / 'train'}`")
    else:
        train, test = _held_back(_classes(root))
    learnt = _examples(train, list(train), shape)
    measured = statistics(learnt, MEASURED)
    return Data(f"folder:{root}", learnt, _examples(test, list(train), shape), shape, len(train), measured)


def _check(root: Path, shape: Shape) -> None:
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        help = "`pip install 'bayesnas-graph[images]'` installs it"
        raise NasError([Diagnostic("NAS507", "images in folders are read with Pillow", help=help)]) from None
    if len(shape) != 3 or shape[0] not in MODES:
        message = f"images in folders have 1 or 3 channels, and the network takes {'x'.join(map(str, shape))}"
        raise NasError([Diagnostic("NAS504", message, help="declare its input as `image(3, height, width)`")])
    if not root.is_dir():
        problem = "is no folder" if root.exists() else "is not there"
        help = "name a folder that has a folder of images for each class"
        raise NasError([Diagnostic("NAS502", f"`{root}` {problem}", help=help)])


def _tests(root: Path) -> Path:
    """The folder of images for testing."""
    for name in ("test", "val"):
        if (root / name).is_dir():
            return root / name
    _unusable(f"`{root}` has a folder `train`, but neither `test` nor `val`")


def _classes(folder: Path) -> Classes:
    """The classes in a folder by name, and their images by name."""
    try:
        places = sorted(place for place in folder.iterdir() if place.is_dir() and not place.name.startswith("."))
        classes = {
            place.name: sorted(path for path in place.rglob("*") if path.suffix.lower() in ENDINGS) for place in places
        }
    except OSError as error:
        _unusable(f"`{error.filename or folder}` cannot be read: {error.strerror}")
    if not classes:
        _unusable(f"there are no folders of images in `{folder}`")
    for name, paths in classes.items():
        if not paths:
            _unusable(f"there are no images in `{folder / name}`")
    return classes


def _held_back(classes: Classes) -> tuple[Classes, Classes]:
    """Most images, and a tenth of each class, always the same. Nothing may be hidden in the order of their names."""
    train, test = {}, {}
    for name, paths in classes.items():
        if len(paths) < 2:
            _unusable(f"the class `{name}` has a single image, and one is needed for training and one for testing")
        kept, held_back = split(len(paths), max(HELD_BACK, 1 / len(paths)), seed=0)
        train[name], test[name] = ([paths[i] for i in part.tolist()] for part in (kept, held_back))
    return train, test


def _examples(classes: Classes, names: list[str], shape: Shape) -> ImageFiles:
    found = [(path, names.index(name)) for name, paths in classes.items() for path in paths]
    return ImageFiles(tuple(path for path, _ in found), torch.tensor([label for _, label in found]), shape)


def read_image(path: Path, shape: Shape) -> Tensor:
    """An image of this shape: resized until it just covers it, and cut out of the middle."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    channels, height, width = shape
    try:
        with Image.open(path) as image:
            converted = image.convert(MODES[channels])
            fitted = ImageOps.fit(converted, (width, height), Image.Resampling.BILINEAR)
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        reason = "it is no image that can be read" if isinstance(error, UnidentifiedImageError) else str(error)
        help = "replace the file, or remove it"
        raise NasError([Diagnostic("NAS503", f"`{path}` cannot be read: {reason}", help=help)]) from None
    pixels = np.array(fitted, dtype=np.uint8).reshape(height, width, channels)
    return torch.from_numpy(pixels).permute(2, 0, 1)


def _unusable(message: str) -> NoReturn:
    help = "put images into `train/CLASS/` and `test/CLASS/`, or into one folder for each class"
    raise NasError([Diagnostic("NAS505", message, help=help)])
