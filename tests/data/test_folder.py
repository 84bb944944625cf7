"""Images in folders."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from bayesnas_graph.data import Data, load
from bayesnas_graph.data.folder import ImageFiles
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def paint(path: Path, color: tuple[int, int, int] = RED, size: tuple[int, int] = (10, 10), mode: str = "RGB") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, color).convert(mode).save(path)


def from_folder(path: Path, shape: tuple[int, ...] = (3, 8, 8)) -> Data:
    return load(f"folder:{path}", Path("data"), image_shape=shape)


@pytest.mark.parametrize("tests", ["test", "val"])
def test_two_parts(tmp_path: Path, tests: str) -> None:
    for i in range(3):
        paint(tmp_path / "train" / "sky" / f"{i}.png", BLUE)
        paint(tmp_path / "train" / "grass" / f"{i}.JPG", GREEN)
    paint(tmp_path / tests / "sky" / "deep" / "0.bmp", BLUE)
    (tmp_path / "train" / "sky" / "notes.txt").write_text("not an image")
    (tmp_path / "train" / ".hidden").mkdir()
    data = from_folder(tmp_path)
    assert (len(data.train), len(data.test), data.classes, data.shape) == (6, 1, 2, (3, 8, 8))
    images, labels = data.train.take(torch.tensor([5, 0]))
    assert images.dtype == torch.uint8
    assert labels.tolist() == [1, 0]  # by name: grass, sky
    assert images[0].amax((1, 2)).tolist() == [0, 0, 255]
    assert data.test.take(torch.tensor([0]))[1].tolist() == [1]
    assert data.statistics.mean == pytest.approx((0, 0.5, 0.5), abs=0.01)


def test_one_part(tmp_path: Path) -> None:
    for i in range(20):
        paint(tmp_path / "many" / f"{i:02}.png", (i, 0, 0))
    for i in range(2):
        paint(tmp_path / "few" / f"{i}.png")
    data = from_folder(tmp_path)
    assert isinstance(data.train, ImageFiles)
    assert isinstance(data.test, ImageFiles)
    assert (len(data.train), len(data.test)) == (19, 3)
    assert sorted([*data.train.paths, *data.test.paths]) == sorted(tmp_path.rglob("*.png"))
    again = from_folder(tmp_path).test
    assert isinstance(again, ImageFiles)
    assert again.paths == data.test.paths


def test_images_are_resized_and_cut_out_of_the_middle(tmp_path: Path) -> None:
    wide = np.zeros((20, 60, 3), np.uint8)
    wide[:, :20], wide[:, 20:40], wide[:, 40:] = RED, GREEN, BLUE
    (tmp_path / "a").mkdir()
    for i in range(2):
        Image.fromarray(wide).save(tmp_path / "a" / f"{i}.png")
    images, _ = from_folder(tmp_path, (3, 10, 10)).train.take(torch.tensor([0]))
    assert images.shape == (1, 3, 10, 10)
    assert images[0, :, 5, 5].tolist() == list(GREEN)
    assert images[0, :, :, 1:9].amax((1, 2)).tolist() == list(GREEN)
    images, _ = from_folder(tmp_path, (3, 10, 30)).train.take(torch.tensor([0]))
    assert [images[0, :, 5, x].tolist() for x in (2, 15, 27)] == [list(RED), list(GREEN), list(BLUE)]


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "1", "CMYK"])
@pytest.mark.parametrize("channels", [1, 3])
def test_modes(tmp_path: Path, mode: str, channels: int) -> None:
    ending = "jpg" if mode == "CMYK" else "png"
    for part in ("train", "test"):
        paint(tmp_path / part / "a" / f"0.{ending}", (255, 255, 255), mode=mode)
        paint(tmp_path / part / "b" / f"0.{ending}", (0, 0, 0), mode=mode)
    images, _ = from_folder(tmp_path, (channels, 4, 4)).train.take(torch.tensor([0]))
    assert images.shape == (1, channels, 4, 4)
    assert images.min() >= 254


@pytest.mark.parametrize("how", ["no image", "cut", "empty", "folder"])
def test_a_broken_image_is_named(tmp_path: Path, how: str) -> None:
    for i in range(2):
        paint(tmp_path / "train" / "a" / f"{i}.png", (RED, GREEN)[i], size=(50, 50))
    paint(tmp_path / "test" / "a" / "0.png", size=(50, 50))
    data = from_folder(tmp_path)
    path = tmp_path / "test" / "a" / "0.png"
    content = path.read_bytes()
    if how == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes({"no image": b"hello", "cut": content[: len(content) // 2], "empty": b""}[how])
    with pytest.raises(NasError) as error:
        data.test.take(torch.tensor([0]))
    assert problem(error).code == "NAS503"
    assert problem(error).message.startswith(f"`{path}` cannot be read: ")


def test_bombs_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(2):
        paint(tmp_path / "a" / f"{i}.png", size=(50, 50))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(NasError) as error:
        from_folder(tmp_path)
    assert "cannot be read" in problem(error).message


def test_folders_that_are_none(tmp_path: Path) -> None:
    def message(path: Path, code: str = "NAS505") -> str:
        with pytest.raises(NasError) as error:
            from_folder(path)
        assert problem(error).code == code
        return problem(error).message

    assert message(tmp_path / "nowhere", "NAS502") == f"`{tmp_path / 'nowhere'}` does not exist"
    (tmp_path / "file").write_text("")
    assert message(tmp_path / "file", "NAS502") == f"`{tmp_path / 'file'}` is not a folder"
    assert message(tmp_path) == f"no class folders in `{tmp_path}`"
    paint(tmp_path / "a" / "0.png")
    assert message(tmp_path).startswith("the class `a` has a single image")
    (tmp_path / "b").mkdir()
    assert message(tmp_path) == f"no images in `{tmp_path / 'b'}`"
    paint(tmp_path / "parts" / "train" / "a" / "0.png")
    assert message(tmp_path / "parts") == f"`{tmp_path / 'parts'}` has a folder `train`, but neither `test` nor `val`"
    paint(tmp_path / "parts" / "test" / "c" / "0.png")
    expected = f"the class `c` of `{tmp_path / 'parts' / 'test'}` is not in `{tmp_path / 'parts' / 'train'}`"
    assert message(tmp_path / "parts") == expected


@pytest.mark.parametrize("shape", [(784,), (4, 8, 8), (3, 8, 8, 8)])
def test_networks_that_take_no_images(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with pytest.raises(NasError) as error:
        from_folder(tmp_path, shape)
    assert problem(error).code == "NAS504"


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(NasError) as error:
        from_folder(tmp_path)
    assert problem(error).code == "NAS507"
    assert problem(error).help == "install it with `pip install pillow`"
