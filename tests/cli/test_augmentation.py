"""Augmentation from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from bayesnas_graph.data import Data, InMemory, Statistics
from tests.cli.conftest import Run

SEQUENCE = """
network net : sequence(2, 16) -> classes(2) {
    in x
    x -> out : conv1d(4) > bn > relu > global_avg_pool > linear(2)
}
"""


def sequences() -> Data:
    """Sequences of two classes."""
    part = InMemory(torch.rand(100, 2, 16), torch.arange(100) % 2)
    return Data("waves", part, part, (2, 16), 2, Statistics((0.5, 0.5), (1.0, 1.0)))


def test_default_recipes_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On small images, vectors and sequences; what a run used is in its folder."""
    monkeypatch.chdir(tmp_path)
    Path("vectors.nas").write_text(
        "network net : vector(64) -> classes(10) { in x x -> out : linear(8) > relu > linear(10) }"
    )
    Path("sequences.nas").write_text(SEQUENCE)
    quick = ("--epochs", "1", "-s", "threads=1")
    search = ("-s", "warmup=1", "-s", "iterations=1", "-s", "steps=2", "-s", "finish=0", "-s", "finalists=0")
    assert run("search", "quickstart", *search, "-s", "threads=1", "-o", "found").code == 0
    for source, name in (("found", "digits"), ("vectors.nas", "digits"), ("sequences.nas", f"{__name__}:sequences")):
        result = run("train", source, "--data", name, *quick, "-o", f"trained-{Path(source).stem}")
        assert result.code == 0, result.err
        off = name != "digits"
        assert ("`cutout` is 4 instead of 16" in result.out) != off
        assert ("`crop` and `flip` and `cutout` are off" in result.out) == off
    used = json.loads(Path("trained-found/run.json").read_text())["config"]
    assert (used["crop"], used["cutout"]) == (4, 4)


IMAGES = """
network net : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(4) > bn > choose { relu, tanh } > global_avg_pool > linear(10)
}
"""


def negative(images: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """Augmentation of our own."""
    return 1 - images


EVERY = [
    f"augment={__name__}:negative",
    "mixup=0.4",
    "cutmix=1",
    "resized_crop=0.08",
    "rand_augment=2 rand_magnitude=5",
    "jitter=0.4",
]


@pytest.mark.parametrize("settings", EVERY)
def test_every_augmentation(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str) -> None:
    """A search and a training finish; in sequences, what needs images is refused."""
    monkeypatch.chdir(tmp_path)
    Path("space.nas").write_text(IMAGES)
    Path("sequences.nas").write_text(SEQUENCE)
    given = [word for setting in (*settings.split(), "threads=1", "batch=1000") for word in ("-s", setting)]
    search = ("-s", "warmup=1", "-s", "iterations=1", "-s", "steps=1", "-s", "finish=0", "-s", "gates_on=held_out")
    found = run("search", "space.nas", "--data", "shapes", *given, *search, "-o", "found")
    assert found.code == 0, found.err
    trained = run("train", "found", "--data", "shapes", *given, "--epochs", "1", "-o", "trained")
    assert trained.code == 0, trained.err
    given[-1] = "batch=20"
    other = run("train", "sequences.nas", "--data", f"{__name__}:sequences", *given, "--epochs", "1", "-o", "other")
    key = settings.partition("=")[0]
    any_shape = key in ("mixup", "augment")
    assert (other.code == 0) == any_shape, other.err
    assert any_shape or f"error[NAS504]: `waves` cannot be augmented with `{key}`" in other.err
