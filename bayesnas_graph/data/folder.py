"""Image files, one folder per class, read on demand."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
import torch
from torch import Tensor

from bayesnas_graph.data.content import SAMPLE, Seen, checked, same_files
from bayesnas_graph.data.doubles import Classes, classes_of_same_files
from bayesnas_graph.data.model import Data, Shape
from bayesnas_graph.data.normalisation import statistics
from bayesnas_graph.data.sampling import split
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.diagnostics.reading import open_file

ENDINGS = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")  # Pillow knows some that run other programs
MODES = {1: "L", 3: "RGB"}  # Pillow modes by number of channels
TEST_FRACTION = 0.1  # without a folder of test images


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Examples in image files, resized to one shape."""

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
    """Load `root/train` and `root/test` or `root/val`; without `train`, all of `root` with a tenth as test set."""
    _check(root, shape)
    if (root / "train").is_dir():
        train, test = _classes(root / "train"), _classes(_tests(root))
        unknown = sorted(test.keys() - train.keys())
        if unknown:
            _reject(f"the class `{unknown[0]}` of `{_tests(root)}` is not in `{root / 'train'}`")
    else:
        train, test = _split(_classes(root))
    names, name = list(train), f"folder:{root}"
    examples, tests = _examples(train, names, shape), _examples(test, names, shape)
    seen = Seen()
    data = Data(name, examples, tests, shape, len(names), statistics(examples, SAMPLE, look=seen.look))
    doubles = [same_files(name, *pair) for pair in classes_of_same_files(train)]
    return checked(data, {"training": seen}, {"training": examples.labels, "testing": tests.labels}, names, doubles)


def _check(root: Path, shape: Shape) -> None:
    check_packages("images", "reading image files needs", "NAS507")
    if len(shape) != 3 or shape[0] not in MODES:
        message = f"image files have 1 or 3 channels, but the network takes {'x'.join(map(str, shape))}"
        raise NasError([Diagnostic("NAS504", message, help="declare its input as `image(3, height, width)`")])
    if not root.is_dir():
        problem = "is not a folder" if root.exists() else "does not exist"
        help = "give a folder that contains one folder of images per class"
        raise NasError([Diagnostic("NAS502", f"`{root}` {problem}", help=help)])


def _tests(root: Path) -> Path:
    """The folder of test images."""
    for name in ("test", "val"):
        if (root / name).is_dir():
            return root / name
    _reject(f"`{root}` has a folder `train`, but neither `test` nor `val`")


def _classes(folder: Path) -> Classes:
    """The classes in a folder, and the images of each, sorted by name."""
    try:
        folders = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
        classes = {
            class_folder.name: sorted(path for path in class_folder.rglob("*") if path.suffix.lower() in ENDINGS)
            for class_folder in folders
        }
        for paths in classes.values():
            for path in paths:
                _check_image(path)
    except OSError as error:
        _reject(f"`{error.filename or folder}` cannot be read: {error.strerror}")
    if not classes:
        _reject(f"no class folders in `{folder}`")
    for name, paths in classes.items():
        if not paths:
            _reject(f"no images in `{folder / name}`")
    return classes


def _check_image(path: Path) -> None:
    """Raise NasError for what looks like an image, but is not a regular file. None is opened."""
    if not stat.S_ISREG(path.stat().st_mode):
        help = "replace or delete it"
        raise NasError([Diagnostic("NAS503", f"`{path}` cannot be read: not a regular file", help=help)])


def _split(classes: Classes) -> tuple[Classes, Classes]:
    """Training and test images: a random tenth of each class is for testing, always the same."""
    train, test = {}, {}
    for name, paths in classes.items():
        if len(paths) < 2:
            _reject(f"the class `{name}` has a single image, but training and testing need one each")
        parts = split(len(paths), max(TEST_FRACTION, 1 / len(paths)), seed=0)
        train[name], test[name] = ([paths[i] for i in part.tolist()] for part in parts)
    return train, test


def _examples(classes: Classes, names: list[str], shape: Shape) -> ImageFiles:
    labelled = [(path, names.index(name)) for name, paths in classes.items() for path in paths]
    return ImageFiles(tuple(path for path, _ in labelled), torch.tensor([label for _, label in labelled]), shape)


def read_image(path: Path, shape: Shape | None) -> Tensor:
    """Return an image resized to cover a shape, and cropped to its centre; or of its own shape. Raises NasError."""
    with _image_errors(f"`{path}`"), open_file(path) as file:
        return _fitted(file, shape)


def decode_image(content: bytes, name: str, shape: Shape | None) -> Tensor:
    """Return an image that is the content of a file, in the same way. Raises NasError."""
    with _image_errors(name):
        return _fitted(BytesIO(content), shape)


def _fitted(file: IO[bytes], shape: Shape | None) -> Tensor:
    from PIL import Image, ImageOps

    with Image.open(file, formats=FORMATS) as image:
        own = 1 if image.mode in ("1", "L") else 3
        channels, height, width = shape or (own, image.height, image.width)
        fitted = ImageOps.fit(image.convert(MODES[channels]), (width, height), Image.Resampling.BILINEAR)
    pixels = np.array(fitted, dtype=np.uint8).reshape(height, width, channels)
    return torch.from_numpy(pixels).permute(2, 0, 1)


@contextmanager
def _image_errors(name: str) -> Iterator[None]:
    from PIL import UnidentifiedImageError

    try:
        yield
    except Exception as error:  # of any type, depending on the format
        own = error.strerror if isinstance(error, OSError) else None
        reason = "unknown image format" if isinstance(error, UnidentifiedImageError) else own or str(error)
        help = "replace or delete the file"
        raise NasError([Diagnostic("NAS503", f"{name} cannot be read: {reason}", help=help)]) from None


def _reject(message: str) -> NoReturn:
    help = "put images into `train/CLASS/` and `test/CLASS/`, or into one folder per class"
    raise NasError([Diagnostic("NAS505", message, help=help)])
