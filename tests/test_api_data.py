"""Runs whose data are given as objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.search.events import StepRow
from tests.data.files import problem
from tests.error_scenes import program
from tests.search.spaces import SHORT, TINY, Notes

SETTINGS: dict[str, Any] = {**SHORT, "threads": 1, "iterations": 1}
del SETTINGS["data"]
FIXED = """
network net(width = 4) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(width, stride = 2) > bn > relu > global_avg_pool > linear(10)
}
"""


def part(count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    return torch.rand(count, 1, 8, 8, generator=random), torch.arange(count) % 10


TRAIN: dict[str, Any] = {"epochs": 1, "batch": 20, "cutout": 0, "threads": 1}
DATA = (part(80), part(40, seed=1))


class Impatient(Notes):
    """A watcher that stops the run after some steps."""

    def logged(self, row: StepRow) -> None:
        super().logged(row)
        if row.step >= 5:
            raise Interrupted(row.step)


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.nas").write_text(TINY)
    (tmp_path / "fixed.nas").write_text(FIXED)
    return tmp_path / "tiny.nas"


def manifest(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((path / "run.json").read_text())
    return content


def test_a_search_and_what_is_written_about_its_data(space: Path) -> None:
    found = api.search(space, data=DATA, output="run", **SETTINGS)
    about = manifest(found.path)
    assert about["config"]["data"] == "data from Python"
    data = about["data"]
    assert (data["kind"], data["train"], data["test"]) == ("pair of tensors", 80, 40)
    assert (data["shape"], data["classes"]) == ([1, 8, 8], 10)
    config = SearchConfig(**{**SETTINGS, "data": "digits"})
    loaders = tuple(DataLoader(TensorDataset(*one), 7) for one in DATA)
    again = api.search(space, data=loaders, config=config, output="again")
    assert again.outcome.decision == found.outcome.decision
    other = manifest(again.path)["data"]
    assert (other["kind"], other["labels"], other["images"]) == (
        "DataLoader of TensorDataset",
        data["labels"],
        data["images"],
    )
    assert "only the dataset of the data loader for training is used" in other["notes"][0]


def test_a_search_is_resumed_with_the_same_data(space: Path) -> None:
    whole = api.search(space, data=DATA, output="whole", **SETTINGS)
    with pytest.raises(Interrupted):
        api.search(space, data=DATA, output="cut", watch=(Impatient(),), **SETTINGS)
    (images, labels), (tests, test_labels) = DATA
    for other, message in {
        (part(90), DATA[1]): "they had 80 examples for training, these have 90 examples",
        (DATA[0], part(30)): "they had 40 examples for testing, these have 30 examples",
        ((images, labels.flip(0)), DATA[1]): "the labels are not the same",
        (part(80, seed=2), DATA[1]): "the images are not the same",
        ((images.mT[:, :, :6], labels), (tests[:, :, :6], test_labels)): "they had images of 1x8x8, these have images",
        ((images, labels % 5), (tests, test_labels % 5)): "they had 10 classes, these have 5 classes",
    }.items():
        with pytest.raises(NasError) as error:
            api.search(resume="cut", data=other)
        assert problem(error).code == "NAS510"
        assert message in problem(error).message
    with pytest.raises(NasError, match="data from Python, which are not in its folder"):
        api.search(resume="cut")
    said = program(["bayesnas-graph", "search", "--resume", "cut"], space.parent)
    assert said.startswith("error[NAS510]: the run has data from Python")
    assert "nas.search(resume='cut', data=(train, test))" in program(["bayesnas-graph", "status", "cut"], space.parent)
    gone_on = api.search(resume="cut", data=DATA)
    assert gone_on.outcome.decision == whole.outcome.decision


def test_images_that_change_at_random(space: Path) -> None:
    """Only their labels are compared."""

    class Noisy(TensorDataset):
        def __getitem__(self, index: int) -> Any:
            image, label = self.tensors[0][index], self.tensors[1][index]
            return (image + torch.rand(1)).clamp(max=1), label

    data = (Noisy(*DATA[0]), TensorDataset(*DATA[1]))
    run = api.train("fixed.nas", data=data, **TRAIN, output="run")
    assert "images" not in manifest(run.path)["data"]
    assert api.train(resume="run", data=data).outcome.score.accuracy == run.outcome.score.accuracy


def test_training_compressing_and_evaluating(space: Path) -> None:
    trained = api.train("fixed.nas", data=DATA, **TRAIN, output="trained")
    assert trained.outcome.score.accuracy == api.evaluate(trained, data=DATA, runs=1).score.accuracy  # type: ignore[union-attr]
    how: dict[str, Any] = {"epochs": 0, "loops": 1, "fine_epochs": 1, "batch": 20, "cutout": 0}
    smaller = api.compress(trained, data=DATA, output="smaller", **how)
    assert manifest(smaller.path)["data"]["kind"] == "pair of tensors"
    for verb in (lambda: api.evaluate(trained, runs=1), lambda: api.compress(trained, **how)):
        with pytest.raises(NasError, match="data from Python, which are not in its folder"):
            verb()


def test_data_that_do_not_fit(space: Path) -> None:
    data = tuple((images[:, :, :4], labels) for images, labels in DATA)
    with pytest.raises(NasError) as error:
        api.search(space, data=data, **SETTINGS)
    assert problem(error).message == "images of `data` are 1x4x8, but the network `net` takes 1x8x8"


def test_a_run_on_named_data_is_resumed_without_objects(space: Path) -> None:
    api.train("fixed.nas", data="digits", **{**TRAIN, "batch": 500}, output="run")
    with pytest.raises(NasError, match="not with data from Python"):
        api.train(resume="run", data=DATA)


def test_sweeps_take_no_objects(space: Path) -> None:
    for how in ({"data": DATA}, {"axes": {"data": [DATA]}}):
        with pytest.raises(NasError) as error:
            api.sweep(space, **how)
        assert problem(error).code == "NAS510"
        assert "cannot be given data from Python" in problem(error).message
