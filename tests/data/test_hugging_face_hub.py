"""Datasets of Hugging Face by name. What needs the package `datasets` is skipped where it is not installed."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bayesnas_graph.data import Data, load
from bayesnas_graph.data.given import data_from
from bayesnas_graph.data.hugging_face_hub import download_hugging_face
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

has_datasets = pytest.mark.skipif(find_spec("datasets") is None, reason="datasets is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # of other packages


def pixels(count: int) -> list[np.ndarray[Any, Any]]:
    return [np.full((8, 8, 3), i * 9, np.uint8) for i in range(count)]


def part(count: int, more: str = "split") -> Any:
    """A dataset of images, with classes that have names."""
    datasets: Any = import_module("datasets")
    image: Any = import_module("PIL.Image")
    features = {"picture": datasets.Image(), "kind": datasets.ClassLabel(names=["a", "b", "c"])}
    images = [image.fromarray(one) for one in pixels(count)]
    columns = {"picture": images, "kind": [i % 3 for i in range(count)], more: [5] * count}
    return datasets.Dataset.from_dict(columns, datasets.Features({**features, more: datasets.Value("int64")}))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two datasets that were saved, and a cache of its own."""
    datasets: Any = import_module("datasets")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.DatasetDict(train=part(12), test=part(6)).save_to_disk(tmp_path / "saved")
    (tmp_path / "files").mkdir()
    for name, count in (("train", 12), ("test", 6)):
        part(count).to_parquet(tmp_path / "files" / f"{name}.parquet")
    return tmp_path


def check(data: Data) -> None:
    assert (data.shape, data.classes, len(data.train), len(data.test)) == ((3, 8, 8), 3, 12, 6)
    images, labels = data.train.take(torch.tensor([7, 2]))
    assert images[:, 1, 4, 4].tolist() == [63, 18]
    assert labels.tolist() == [1, 2]


@has_datasets
@pytest.mark.parametrize("name", ["saved", "files"])
def test_local_files(folder: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    check(load(f"hf:{folder / name}", folder, image_shape=(3, 8, 8)))
    assert capfd.readouterr() == ("", "")
    data = load(f"hf:{folder / name}?image=picture&label=kind&train=test&test=train", folder, image_shape=(1, 4, 4))
    assert (data.shape, len(data.train)) == ((1, 4, 4), 6)
    assert load(f"hf:{folder / name}", folder, image_shape=(192,)).shape == (3, 8, 8)


@has_datasets
def test_the_cache(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What was downloaded before is found by its name."""
    import_module("datasets").load_dataset(str(folder / "files"))
    (made,) = (path for path in folder.glob("cache/files/*/*/*") if path.is_dir())
    cached = folder / "cache" / "someone___flowers" / "default" / "0.0.0" / made.name
    cached.parent.mkdir(parents=True)
    made.rename(cached)
    for path in cached.glob("*.arrow"):
        path.rename(path.with_name(path.name.replace("files-", "flowers-")))
    capfd.readouterr()
    check(load("hf:someone/flowers", folder, image_shape=(3, 8, 8)))
    assert capfd.readouterr() == ("", "")


@has_datasets
def test_objects(folder: Path) -> None:
    """The same as `data=` in Python."""
    datasets: Any = import_module("datasets")
    check(data_from(datasets.load_from_disk(folder / "saved"), "data").data)
    streams = tuple(part(count).to_iterable_dataset() for count in (12, 6))
    check(data_from(streams, "data").data)


@has_datasets
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("?image=photo", "has no column `photo`"),
        ("?label=split&image=picture&train=train", None),
        ("?train=whole", "has no split `whole`"),
        ("?split=train", "has an unknown option `split`"),
        ("?config=none", None),
    ],
)
def test_options(folder: Path, options: str, message: str | None) -> None:
    if message is None and "config" not in options:
        assert load(f"hf:{folder / 'files'}{options}", folder).classes == 6
        return
    with pytest.raises(NasError) as error:
        load(f"hf:{folder / 'files'}{options}", folder)
    assert problem(error).code == "NAS505"
    assert (message or "cannot be loaded: ValueError: BuilderConfig 'none' not found") in problem(error).message


@has_datasets
def test_nothing_is_downloaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object, **__: object) -> Any:
        pytest.fail("it was connected to")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(NasError) as error:
        load("hf:someone/flowers", folder)
    assert problem(error).code == "NAS502"
    assert problem(error).help == "download it with `bayesnas-graph data get 'hf:someone/flowers'`"
    config: Any = import_module("datasets.config")
    assert not config.HF_HUB_OFFLINE


@has_datasets
def test_downloads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(name: str, config: str | None) -> None:
        asked.append((name, config))
        if name == "none":
            raise ConnectionError("no network")

    monkeypatch.setattr("datasets.load_dataset", fetch)
    assert download_hugging_face("hf:someone/flowers?config=small") == "someone/flowers"
    assert asked == [("someone/flowers", "small")]
    with pytest.raises(NasError, match="cannot download `none`: ConnectionError: no network"):
        download_hugging_face("hf:none")


@has_datasets
def test_images_in_formats_that_run_programs(folder: Path) -> None:
    datasets: Any = import_module("datasets")
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["a", "b"])})
    content = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n"
    rows = {"image": [{"bytes": content, "path": None}] * 2, "label": [0, 1]}
    one = datasets.Dataset.from_dict(rows, features)
    datasets.DatasetDict(train=one, test=one).save_to_disk(folder / "eps")
    with pytest.raises(NasError) as error:
        load(f"hf:{folder / 'eps'}", folder, image_shape=(1, 8, 8))
    assert problem(error).code == "NAS503"
    assert "an image of `hf:" in problem(error).message
    assert "unknown image format" in problem(error).message


@has_datasets
def test_scripts_are_not_run(folder: Path) -> None:
    (folder / "script").mkdir()
    (folder / "script" / "script.py").write_text(f"open({str(folder / 'made')!r}, 'w')\n")
    with pytest.raises(NasError):
        load(f"hf:{folder / 'script'}", folder)
    assert not (folder / "made").exists()


def test_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(NasError) as error:
        load("hf:mnist", tmp_path)
    assert problem(error).code == "NAS507"
    assert "pip install datasets" in (problem(error).help or "")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hf:", "does not say where the data are"),
        ("hf:mnist?image=", "has no value for `image`"),
        ("hf:mnist?lable=x", "has an unknown option `lable`"),
    ],
)
def test_odd_names(tmp_path: Path, spec: str, message: str) -> None:
    with pytest.raises(NasError) as error:
        load(spec, tmp_path)
    assert problem(error).message == f"`{spec}` {message}"
