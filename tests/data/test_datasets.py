"""Data sets without files, and unknown names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from bayesnas_graph.data import DATASETS, Augmentation, InMemory, Loading, evaluation, load, training
from bayesnas_graph.data.catalogue import ORIGINS
from bayesnas_graph.data.shapes import KINDS, draw_shapes
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

NOWHERE = Path("nowhere")


def test_digits() -> None:
    data = load("digits", NOWHERE)
    assert (data.shape, data.classes) == ((1, 8, 8), 10)
    assert (len(data.train), len(data.test)) == (1500, 297)
    images, labels = data.train.take(torch.arange(1500))
    assert images.dtype == torch.uint8
    assert images.max() == 255
    assert set(labels.tolist()) == set(data.test.take(torch.arange(297))[1].tolist()) == set(range(10))
    assert labels[:10].tolist() == list(range(10))
    mean = (images.double() / 255).mean()
    assert data.statistics.mean[0] == pytest.approx(float(mean))


def test_digits_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(NasError) as error:
        load("digits", NOWHERE)
    assert problem(error).code == "NAS507"
    assert "`pip install scikit-learn`, or use `shapes`" in (problem(error).help or "")


def test_shapes_depend_on_the_seed_and_nothing_else() -> None:
    one, same, other = (draw_shapes(40, (3, 16, 16), "train", seed) for seed in (0, 0, 1))
    assert torch.equal(one.images, same.images)
    assert not torch.equal(one.images, other.images)
    assert not torch.equal(one.images, draw_shapes(40, (3, 16, 16), "test", 0).images)
    assert one.labels.bincount().tolist() == [4] * len(KINDS)
    assert len({tuple(image.flatten().tolist()) for image in one.images}) == 40


def test_shapes_have_the_shape_that_the_network_takes() -> None:
    data = load("shapes", NOWHERE, image_shape=(1, 12, 20))
    assert data.shape == data.train.take(torch.arange(1))[0].shape[1:] == (1, 12, 20)
    assert (len(data.train), len(data.test), data.classes) == (4000, 1000, 10)
    assert load("shapes", NOWHERE, image_shape=(784,)).shape == (3, 32, 32)


def test_fewer_shapes_where_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesnas_graph.data.shapes.MAX_BYTES", 200 * 3 * 32 * 32)
    data = load("shapes", NOWHERE)
    assert (len(data.train), len(data.test)) == (160, 40)


def test_shapes_can_be_learnt_but_not_by_looking_at_single_pixels() -> None:
    torch.manual_seed(0)
    data = load("shapes", NOWHERE, image_shape=(1, 16, 16))
    everything = torch.arange(1000)
    loading = Loading(50, 0, Augmentation(), data.statistics, torch.device("cpu"))

    def accuracy(network: nn.Module, epochs: int) -> float:
        optimizer = torch.optim.Adam(network.parameters(), 5e-3)
        for epoch in range(epochs):
            for x, y in training(data.train, torch.arange(len(data.train)), loading, epoch):
                optimizer.zero_grad()
                torch.autograd.backward(nn.functional.cross_entropy(network(x), y))
                optimizer.step()
        network.eval()
        with torch.no_grad():
            right = [int((network(x).argmax(1) == y).sum()) for x, y in evaluation(data.test, everything, loading)]
        return sum(right) / len(everything)

    def block(before: int, after: int) -> list[nn.Module]:
        return [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]

    head = [nn.Flatten(), nn.Linear(128, 10)]
    assert accuracy(nn.Sequential(*block(1, 8), *block(8, 16), *block(16, 32), *head), 2) > 0.5
    assert accuracy(nn.Sequential(nn.Flatten(), nn.Linear(256, 10)), 2) < 0.25


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("cifar-10", "did you mean `cifar10`?"),
        ("MNIST", "did you mean `mnist`?"),
        ("imagenet", "use digits, shapes, mnist, fashion-mnist, cifar10, cifar100, or your own data as"),
        ("", "use digits"),
    ],
)
def test_unknown_sets(name: str, help: str) -> None:
    with pytest.raises(NasError) as error:
        load(name, NOWHERE)
    assert problem(error).code == "NAS501"
    assert problem(error).message == f"unknown data set `{name}`"
    assert (problem(error).help or "").startswith(help)


def test_every_set_with_files_can_be_got() -> None:
    assert [name for name, one in DATASETS.items() if one.find] == list(ORIGINS)
    for name, origin in ORIGINS.items():
        contents = {file: size for archive in origin.archives for file, size in archive.contents}
        assert all(len(archive.md5) == 32 for archive in origin.archives)
        pixels = 60_000 * 28 * 28 + 10_000 * 28 * 28 if "mnist" in name else 60_000 * 3072
        assert pixels < sum(contents.values()) < pixels * 1.01


def test_statistics_that_are_known_belong_to_the_set() -> None:
    for one in DATASETS.values():
        if one.statistics:
            assert len(one.statistics.mean) == len(one.statistics.deviation) == one.shape[0]
    assert isinstance(load("digits", NOWHERE).train, InMemory)
