"""Arrays in NumPy's `.npz` files: `npz:FILE`. Arrays of Python objects, which are pickles, are not read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from lzma import LZMAError
from math import prod
from typing import Any, NoReturn
from zipfile import BadZipFile, ZipFile

import numpy as np
import torch
from numpy.lib import format as npy

from bayesnas_graph.data.address import Address, parse_address
from bayesnas_graph.data.checked import reject
from bayesnas_graph.data.content import Part
from bayesnas_graph.data.files import unreadable
from bayesnas_graph.data.labels import classes_of, rows_for_testing
from bayesnas_graph.data.model import Data, InMemory
from bayesnas_graph.data.pair import data_of_parts
from bayesnas_graph.data.part import GivenPart, part_of
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.reading import open_file

Array = np.ndarray[Any, Any]
Header = tuple[tuple[int, ...], bool, np.dtype[Any]]  # shape, whether in Fortran order, type

SPLIT = ("x_train", "y_train", "x_test", "y_test")
WHOLE = ("x", "y")
LARGEST = 2**34  # bytes of an array
HEADERS: Mapping[tuple[int, int], Callable[..., Header]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


def load_npz(spec: str) -> Data:
    """Load `x_train`, `y_train`, `x_test` and `y_test`, or `x` and `y`, from a file. Raises NasError."""
    address = parse_address(spec, ("test", "channels"))
    if address.options.get("channels", "last") != "last":
        reject(spec, f"has `{address.options['channels']}` as `channels`", "write `channels=last`, or leave it out")
    address.check_file()
    try:
        with open_file(address.path) as file, ZipFile(file) as archive:
            return _read(address, archive)
    except OSError as error:
        unreadable(address.path, error)
    except (BadZipFile, LZMAError, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        _damaged(address, f"is not an `.npz` file: {error}")


def _read(address: Address, archive: ZipFile) -> Data:
    spec, names = address.spec, {name.removesuffix(".npy") for name in archive.namelist()}
    wanted = next((group for group in (SPLIT, WHOLE) if names.issuperset(group)), None)
    if wanted is None:
        has = ", ".join(f"`{name}`" for name in sorted(names)) or "none"
        help = "save `x_train`, `y_train`, `x_test` and `y_test`, or `x` and `y`"
        reject(spec, f"lacks the arrays of images and labels: it has {has}", help)
    arrays = {name: _array(address, archive, name) for name in wanted}
    classes = _number_classes(arrays, [name for name in wanted if name.startswith("y")], spec)
    for name in wanted:
        if name.startswith("x") and "channels" in address.options and arrays[name].ndim == 4:
            arrays[name] = np.moveaxis(arrays[name], 3, 1)
    if wanted == SPLIT:
        if "test" in address.options:
            reject(spec, "has arrays for testing, so it takes no `test`", "leave it out")
        train = part_of((arrays["x_train"], arrays["y_train"]), spec, "training")
        test = part_of((arrays["x_test"], arrays["y_test"]), spec, "testing")
    else:
        train, test = _divided(part_of((arrays["x"], arrays["y"]), spec, "training"), address)
    return data_of_parts(replace(train, classes=classes), replace(test, classes=classes), spec)


def _array(address: Address, archive: ZipFile, name: str) -> Array:
    """Return an array, after its header was compared with the size of its file."""
    info = archive.getinfo(f"{name}.npy")
    if info.file_size > LARGEST:
        reject(address.spec, f"has more than {LARGEST // 2**30} GiB in `{name}`", "use fewer examples, or bytes")
    with archive.open(info) as file:
        try:
            read_header = HEADERS[npy.read_magic(file)]
            shape, fortran, dtype = read_header(file)
        except (ValueError, KeyError):
            _damaged(address, f"has no valid array `{name}`")
        if dtype.hasobject:
            help = "save numbers or text; Python objects are pickles, which can run code when they are loaded"
            reject(address.spec, f"has Python objects in `{name}`", help)
        content = file.read()
    if len(content) != prod(shape) * dtype.itemsize or not content:
        _damaged(address, f"should hold {prod(shape) * dtype.itemsize:,} bytes in `{name}`, but holds {len(content):,}")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _number_classes(arrays: dict[str, Array], targets: Sequence[str], spec: str) -> tuple[str, ...]:
    """Replace labels that are text by numbers, and return the names of the classes; none if they are numbers."""
    if not all(arrays[name].dtype.kind in "SU" and arrays[name].ndim == 1 for name in targets):
        return ()
    texts = np.concatenate([arrays[name].astype(str) for name in targets]).tolist()
    labels, names = classes_of(texts, spec)
    parts = labels.tensor_split([len(arrays[targets[0]])])
    arrays.update({name: part.numpy() for name, part in zip(targets, parts, strict=False)})
    return names


def _divided(whole: GivenPart, address: Address) -> tuple[GivenPart, GivenPart]:
    """A part for training and one for testing."""
    examples = whole.examples
    assert isinstance(examples, InMemory), "it was made of arrays"
    if examples.labels.dtype == torch.int64 and examples.labels.min() < 0:
        reject(address.spec, f"has the label {examples.labels.min()}", "number the classes 0, 1, 2, ...")
    test = rows_for_testing(examples.labels, address.test_share)
    if not test.any() or test.all():
        reject(address.spec, f"has {len(test):,} examples, too few for training and testing", "give more of them")
    sides: tuple[tuple[torch.Tensor, Part], ...] = ((~test, "training"), (test, "testing"))
    train, tests = (
        replace(whole, examples=InMemory(examples.images[rows], examples.labels[rows]), part=part)
        for rows, part in sides
    )
    return train, tests


def _damaged(address: Address, problem: str) -> NoReturn:
    help = "write it again, with `numpy.savez` or `numpy.savez_compressed`"
    raise NasError([Diagnostic("NAS503", f"`{address.path}` {problem}", help=help)])
