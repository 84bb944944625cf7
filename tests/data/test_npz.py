"""Arrays in `.npz` files."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import numpy as np
import pytest
import torch

from bayesnas_graph.data import load
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 256, (30, 3, 4, 5), dtype=np.uint8)
Y = np.arange(30) % 3


def saved(folder: Path, **arrays: Any) -> str:
    """Write a file, and return its address."""
    np.savez_compressed(folder / "a.npz", **arrays)
    return f"npz:{folder / 'a.npz'}"


def test_parts(tmp_path: Path) -> None:
    spec = saved(tmp_path, x_train=X, y_train=Y, x_test=X[:6], y_test=Y[:6, None].astype(np.uint8))
    data = load(spec, tmp_path)
    assert (data.shape, data.classes, len(data.train), len(data.test)) == ((3, 4, 5), 3, 30, 6)
    images, labels = data.train.take(torch.tensor([7, 2]))
    assert np.array_equal(images.numpy(), X[[7, 2]])
    assert labels.tolist() == [1, 2]


def test_a_share_for_testing(tmp_path: Path) -> None:
    data = load(f"{saved(tmp_path, x=X, y=Y)}?test=0.5", tmp_path)
    assert (len(data.train), len(data.test)) == (15, 15)
    assert torch.bincount(data.test.take(torch.arange(15))[1]).tolist() == [5, 5, 5]
    assert len(load(saved(tmp_path, x=X, y=Y), tmp_path).test) == 6


def test_channels_that_are_last_and_fortran_order(tmp_path: Path) -> None:
    spec = saved(tmp_path, x=np.asfortranarray(np.moveaxis(X, 1, 3)), y=Y)
    data = load(f"{spec}?channels=last", tmp_path)
    whole = load(saved(tmp_path, x=X, y=Y), tmp_path)
    assert data.shape == (3, 4, 5)
    assert torch.equal(*(one.train.take(torch.arange(20))[0] for one in (data, whole)))


def test_tables_and_classes_that_are_text(tmp_path: Path) -> None:
    names = np.array(["dog", "cat"])[Y % 2]
    data = load(saved(tmp_path, x=X[:, 0, 0].astype(np.int32), y=names), tmp_path)
    assert (data.shape, data.classes) == ((5, 1, 1), 2)
    spec = saved(tmp_path, x_train=X, y_train=names, x_test=X[:2], y_test=np.array(["dog", "emu"]))
    data = load(spec, tmp_path)
    assert data.test.take(torch.arange(2))[1].tolist() == [1, 2]
    assert "no examples for training of class 2 (`emu`)" in data.warnings[0].message


ODD: dict[str, tuple[str, dict[str, Any]]] = {
    "lacks the arrays of images and labels: it has `images`": ("", {"images": X}),
    "has Python objects in `y`": ("", {"x": X, "y": np.array([{}] * 30)}),
    "has labels of type bool for training": ("", {"x": X, "y": Y > 1}),
    "has images of type int64 for training": ("", {"x": X.astype(np.int64), "y": Y}),
    "has 30 images, but 29 labels for training": ("", {"x": X, "y": Y[1:]}),
    "has the label -1": ("", {"x": X, "y": Y - 1}),
    "has 30 examples, too few for training and testing": ("?test=0.01", {"x": X, "y": Y}),
    "has arrays for testing, so it takes no `test`": (
        "?test=0.1",
        {"x_train": X, "y_train": Y, "x_test": X, "y_test": Y},
    ),
    "has `first` as `channels`": ("?channels=first", {"x": X, "y": Y}),
    "has an unknown option `target`": ("?target=y", {"x": X, "y": Y}),
}


@pytest.mark.parametrize("message", ODD)
def test_odd_arrays(tmp_path: Path, message: str) -> None:
    options, arrays = ODD[message]
    with pytest.raises(NasError) as error:
        load(saved(tmp_path, **arrays) + options, tmp_path)
    assert problem(error).code == "NAS505"
    assert message in problem(error).message


def header(shape: tuple[int, ...]) -> bytes:
    """The header of an array."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header((10**15,)) + b"xx", "should hold 1,000,000,000,000,000 bytes in `x`, but holds 2"),
        (header((0, 4)), "should hold 0 bytes in `x`, but holds 0"),
        (b"\x93NUMPY\x09\x00", "has no valid array `x`"),
        (b"", "has no valid array `x`"),
        (b"cos\nsystem\n(S'true'\ntR.", "has no valid array `x`"),
    ],
)
def test_damaged_arrays(tmp_path: Path, content: bytes, message: str) -> None:
    with ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", content)
        archive.writestr("y.npy", content)
    with pytest.raises(NasError) as error:
        load(f"npz:{tmp_path / 'a.npz'}", tmp_path)
    assert problem(error).code == "NAS503"
    assert message in problem(error).message


@pytest.mark.parametrize("compression", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_damaged_archives(tmp_path: Path, compression: int) -> None:
    """They are read or refused."""
    with ZipFile(tmp_path / "a.npz", "w", compression) as archive:
        for name, array in (("x", X), ("y", Y)):
            file = io.BytesIO()
            np.save(file, array)
            archive.writestr(f"{name}.npy", file.getvalue())
    whole = (tmp_path / "a.npz").read_bytes()
    assert load(f"npz:{tmp_path / 'a.npz'}", tmp_path).classes == 3
    for place in range(0, len(whole), len(whole) // 60):
        (tmp_path / "a.npz").write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with suppress(NasError):
            load(f"npz:{tmp_path / 'a.npz'}", tmp_path)


def test_files_that_are_not_archives(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"no archive")
    for name, code in (("a.npz", "NAS503"), ("none.npz", "NAS502"), (".", "NAS503")):
        with pytest.raises(NasError) as error:
            load(f"npz:{tmp_path / name}", tmp_path)
        assert problem(error).code == code


def test_numbers_with_a_fraction_are_values(tmp_path: Path) -> None:
    data = load(saved(tmp_path, x=X, y=Y / 2 - 0.7), tmp_path)
    assert (data.targets, data.classes) == ("values", 1)
    assert (len(data.train), len(data.test)) == (24, 6)
    found = torch.cat([part.take(torch.arange(len(part)))[1] for part in (data.train, data.test)])
    assert sorted(found.flatten().tolist()) == pytest.approx(sorted((Y / 2 - 0.7).tolist()))


def test_several_labels(tmp_path: Path) -> None:
    data = load(saved(tmp_path, x=X, y=np.eye(4, dtype=np.int64)[Y]), tmp_path)
    assert (data.targets, data.classes) == ("labels", 4)
