"""Data that are broken, or not what they seem: every verb that loads them stops with a message, or warns."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli.conftest import Run, run
from tests.data.files import idx, write_mnist

__all__ = ["run"]

SPACE = """
network net(channels = 1, size = 8, labels = 3) : image(channels, size, size) -> classes(labels) {
    in x
    x -> out : choose { conv(4), conv(4, 1) } > global_avg_pool > linear(labels)
}
"""
SEARCH = ("search", "net.nas", "-o", "run", "--iterations", "1", "--steps", "1", "--batch", "4", "-s", "threads=1")
FEW = (*SEARCH, "-s", "warmup=0", "-s", "finish=0")

# The images of 12 examples are random; every case changes something.
MODULE = """
import torch
from bayesnas_graph.data import Data, InMemory, Statistics

class Set:
    def __init__(self, count=12, seed=0):
        self.images = torch.rand(min(count, 12), 1, 8, 8, generator=torch.Generator().manual_seed(seed))
        self.labels = [i % 3 for i in range(12)]
        self.count = count
    def __len__(self): return self.count
    def __getitem__(self, i): return self.images[i], self.labels[i]

class Listed(Set):
    classes = ["cat", "dog", "cow"]

def whole(train, test):
    parts = [InMemory(one.images, torch.tensor(one.labels)) for one in (train, test)]
    return Data("pets", *parts, (1, 8, 8), 3, Statistics((0.5,), (0.3,)))

train, test = Set(), Set(seed=1)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("BAYESNAS_DATA", raising=False)
    monkeypatch.delitem(sys.modules, "pets", raising=False)
    (tmp_path / "net.nas").write_text(SPACE)
    return tmp_path


ERRORS = {
    "a NaN": (
        "train.images[7, 0, 3, 3] = float('nan')",
        "pixels that are infinite or not a number in image 7 for training",
    ),
    "an infinity": (
        "test.images[11, 0, 0, 0] = -float('inf')",
        "pixels that are infinite or not a number in image 11 for testing",
    ),
    "a blank part": ("train.images[:] = 0.25", "for training are blank: every pixel has the same colour"),
    "one image": ("train.images[:] = train.images[0]", "all images of `pets:make` for training are the same"),
    "a negative label": ("train.labels[4] = -3", "gives the label -3 to image 4 for training"),
    "a negative label of a test": (
        "test.labels[4] = -3",
        "gives the label -3 to image 4 for testing, but has 3 classes",
    ),
    "a large label of a test": ("test.labels[5] = 3", "gives the label 3 to image 5 for testing, but has 3 classes"),
    "a huge label": ("train.labels[5] = 10**15", "gives the label 1000000000000000 to image 5 for training"),
    "a label beyond all numbers": ("train.labels[5] = 10**30", f"gives `{10**30}` as label 5 for training"),
    "no examples": ("test.count = 0", "has no examples for testing"),
    "a terabyte": ("train.count = 10**12", "has 1,000,000,000,000 examples for training"),
    "a length beyond all numbers": ("train.count = 10**30", "failed to return the number of examples for training"),
    "too many to read": ("train.count = 10**7", "10,000,000 examples for training, and does not list its classes"),
    "another shape": ("test.images = torch.rand(12, 1, 8, 9)", "has images of 1x8x8 and of 1x8x9 for testing"),
    "labels that the network does not have": ("train.labels[2] = 3", "`pets:make` has 4 classes, but the network"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_data_that_cannot_be_used(run: Run, here: Path, case: str) -> None:
    change, message = ERRORS[case]
    (here / "pets.py").write_text(f"{MODULE}\n{change}\ndef make(): return train, test\n")
    result = run(*FEW, "--data", "pets:make")
    assert result.code == 1
    assert message in result.err
    assert "pets:make" in result.err
    assert "= help: " in result.err
    assert not (here / "run").exists()


@pytest.mark.parametrize("case", ["a NaN", "an infinity", "a negative label of a test", "a large label of a test"])
def test_tensors_are_checked_too(run: Run, here: Path, case: str) -> None:
    change, message = ERRORS[case]
    (here / "pets.py").write_text(f"{MODULE}\n{change}\ndef make(): return whole(train, test)\n")
    result = run(*FEW, "--data", "pets:make")
    assert result.code == 1
    assert message in result.err


@pytest.mark.parametrize("numbers", ["(float('nan'),), (1.0,)", "(0.5,), (0.0,)", "(0.5,), (float('inf'),)"])
def test_statistics_that_make_no_sense(run: Run, here: Path, numbers: str) -> None:
    text = "from dataclasses import replace\n"
    text += f"def make(): return replace(whole(train, test), statistics=Statistics({numbers}))\n"
    (here / "pets.py").write_text(MODULE + text)
    result = run(*FEW, "--data", "pets:make")
    assert result.code == 1
    assert "has a mean that is not finite, or a deviation that is not positive" in result.err


def test_what_no_sample_has_is_found_when_it_is_read(run: Run, here: Path) -> None:
    """Of a large dataset that lists its classes, 2,000 images are looked at before the run, and all when used."""
    text = """
class Large(Listed):
    def __getitem__(self, i):
        image = self.images[i % 12]
        return (image * float('nan') if i == 4321 else image), i % 3

def make(): return Large(5_000), Listed(12)
"""
    (here / "pets.py").write_text(MODULE + text)
    result = run(*SEARCH[:4], "--iterations", "1", "--data", "pets:make", "--batch", "500", "-s", "held_out=0.01")
    assert result.code == 1
    assert "pixels that are infinite or not a number in image 4321 for training" in result.err


WARNINGS = {
    "a class without images": (
        "train.labels = [2 * (i % 2) for i in range(12)]",
        "`pets:make` has no examples for training of class 1",
    ),
    "a class without tests": ("test.labels = [0, 1] * 6", "`pets:make` has no examples for testing of class 2"),
    "blank tests": ("test.images[:] = 0.5", "warning[NAS508]: all images of `pets:make` for testing are blank"),
    "names that look the same": (
        "train, test = Listed(), Listed(seed=1); Listed.classes = ['cat', 'dog', 'Cat ']",
        "classes 0 and 2 of `pets:make` are called `cat` and `Cat `",
    ),
    "equal names": (
        "train, test = Listed(), Listed(seed=1); Listed.classes = ['cat', 'dog', 'dog']",
        "classes 1 and 2 of `pets:make` are called `dog` and `dog`",
    ),
    "another order of classes": (
        "train, test = Listed(), Listed(seed=1); test.classes = ['cat', 'cow', 'dog']",
        "class 1 of `pets:make` is `dog` for training, but `cow` for testing",
    ),
    "more classes": (
        "train, test = Listed(), Listed(seed=1); test.classes = ['cat', 'dog', 'cow', 'ape']",
        "`pets:make` lists 3 classes for training, but 4 for testing",
    ),
}


@pytest.mark.parametrize("case", WARNINGS)
def test_data_that_are_doubtful(run: Run, here: Path, case: str) -> None:
    change, message = WARNINGS[case]
    (here / "pets.py").write_text(f"{MODULE}\n{change}\ndef make(): return train, test\n")
    result = run(*FEW, "--data", "pets:make")
    assert result.code == 0
    assert message in result.err
    assert result.err.count("warning[") == 1


def test_good_data_have_no_warnings(run: Run, here: Path) -> None:
    (here / "pets.py").write_text(f"{MODULE}\ndef make(): return Listed(), Listed(seed=1)\n")
    result = run(*FEW, "--data", "pets:make")
    assert (result.code, result.err) == (0, "")
    result = run("eval", "run", "--runs", "1", "--allow-python")
    assert (result.code, result.err) == (0, "")


def test_a_channel_that_is_the_same_everywhere(run: Run, here: Path) -> None:
    text = "for one in (train, test): one.images = torch.cat([one.images, torch.ones(12, 1, 8, 8)], 1)\n"
    (here / "pets.py").write_text(f"{MODULE}\n{text}\ndef make(): return train, test\n")
    result = run(*FEW, "--data", "pets:make", "-p", "channels=2")
    assert result.code == 0
    assert "warning[NAS509]: channel 1 is the same everywhere in all images of `pets:make` for training" in result.err
    again = run("eval", "run", "--runs", "1", "--allow-python")
    assert again.code == 0
    assert "channel 1 is the same everywhere" in again.err


def test_files_of_blank_images(run: Run, here: Path) -> None:
    write_mnist(here / "data" / "mnist")
    (here / "data" / "mnist" / "train-images-idx3-ubyte").write_bytes(idx(np.zeros((30, 28, 28), np.uint8)))
    result = run(*FEW, "--data", "mnist", "-p", "size=28", "-p", "labels=10")
    assert result.code == 1
    assert "error[NAS508]: all images of `mnist` for training are blank" in result.err


# ---------------------------------------------------------------------------------------- folders


@pytest.fixture
def pictures(here: Path) -> Path:
    """Three classes of six pictures for training, and two for testing."""
    random = np.random.default_rng(0)
    for part, count in (("train", 6), ("test", 2)):
        for name in ("ape", "cat", "dog"):
            (here / "pets" / part / name).mkdir(parents=True)
            for i in range(count):
                pixels = random.integers(0, 256, (8, 8), dtype=np.uint8)
                Image.fromarray(pixels).save(here / "pets" / part / name / f"{i}.png")
    return here / "pets"


def replaced(path: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    """A change of a folder: something else instead of a picture."""

    def change(folder: Path) -> None:
        (folder / path).unlink()
        make(folder / path)

    return change


def eps(path: Path) -> None:
    """A file that Pillow would give to Ghostscript."""
    path.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nquit\n")


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (replaced("train/cat/3.png", os.mkfifo), "train/cat/3.png` cannot be read: not a regular file"),
    "a device": (
        replaced("train/cat/3.png", lambda path: path.symlink_to("/dev/zero")),
        "train/cat/3.png` cannot be read: not a regular file",
    ),
    "a file of the system": (
        replaced("train/cat/3.png", lambda path: path.symlink_to("/proc/self/environ")),
        "train/cat/3.png` cannot be read: not a regular file",
    ),
    "a link to itself": (
        replaced("train/cat/3.png", lambda path: path.symlink_to(path.name)),
        "train/cat/3.png` cannot be read: Too many levels of symbolic links",
    ),
    "a pipe among the tests": (replaced("test/dog/1.png", os.mkfifo), "test/dog/1.png` cannot be read"),
    "a folder": (replaced("train/cat/3.png", Path.mkdir), "train/cat/3.png` cannot be read: not a regular file"),
    "an empty class": (lambda folder: (folder / "train" / "bee").mkdir(), "no images in `pets/train/bee`"),
    "no tests": (lambda folder: shutil.rmtree(folder / "test"), "has a folder `train`, but neither `test` nor `val`"),
    "an unknown class": (
        lambda folder: (folder / "test" / "dog").rename(folder / "test" / "emu"),
        "the class `emu` of `pets/test` is not in `pets/train`",
    ),
    "another kind of file": (replaced("train/cat/3.png", eps), "train/cat/3.png` cannot be read: unknown image format"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_folders_that_cannot_be_used(run: Run, pictures: Path, case: str) -> None:
    change, message = BROKEN[case]
    change(pictures)
    result = run(*FEW, "--data", "folder:pets")
    assert result.code == 1
    assert message in result.err
    assert "= help: " in result.err


def linked(folder: Path) -> None:
    shutil.rmtree(folder / "train" / "dog")
    (folder / "train" / "dog").symlink_to("cat")


DOUBTFUL: dict[str, tuple[Callable[[Path], object], str]] = {
    "a copy of a class": (
        lambda folder: shutil.copytree(folder / "train/ape", folder / "train/dog", dirs_exist_ok=True),
        "classes `ape` and `dog` of `folder:pets` have the same files",
    ),
    "a link to a class": (
        linked,
        "classes `cat` and `dog` of `folder:pets` have the same files",
    ),
    "names that look the same": (
        lambda folder: [(folder / part / "dog").rename(folder / part / "Cat ") for part in ("train", "test")],
        "classes 0 and 2 of `folder:pets` are called `Cat ` and `cat`",
    ),
    "a class without tests": (
        lambda folder: shutil.rmtree(folder / "test" / "cat"),
        "`folder:pets` has no examples for testing of class 1 (`cat`)",
    ),
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_folders_that_are_doubtful(run: Run, pictures: Path, case: str) -> None:
    change, message = DOUBTFUL[case]
    change(pictures)
    result = run(*FEW, "--data", "folder:pets")
    assert result.code == 0
    assert message in result.err


def test_good_folders_have_no_warnings(run: Run, pictures: Path) -> None:
    """Files of one name and size, as in all classes here, are compared by content."""
    result = run(*FEW, "--data", "folder:pets")
    assert (result.code, result.err) == (0, "")
