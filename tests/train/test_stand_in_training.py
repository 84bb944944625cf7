"""Training and compression on a stand-in for a GPU: a step waits for nothing, and no double is used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.train import loop
from bayesnas_graph.train.checkpoint import TrainCheckpoints
from bayesnas_graph.train.compress import work
from bayesnas_graph.train.compress.events import CompressWatcher
from bayesnas_graph.train.compress.selection import Size
from bayesnas_graph.train.compress.work import CompressionProblem, CompressWork, Smaller
from bayesnas_graph.train.loop import Training, TrainOutcome
from bayesnas_graph.train.step import train_step
from tests.helpers import mostly_long, network
from tests.search.spaces import tiny_data
from tests.search.stand_in import CPU, DEVICE, Seen, StandIn, recorded, stand_in
from tests.search.stand_in_autocast import autocasting
from tests.train.compress.conftest import SHORT
from tests.train.compress.small import SMALL
from tests.train.networks import Notes, problem

EVERYTHING: dict[str, Any] = {"epochs": 1, "drop_path": 0.2, "label_smoothing": 0.1, "flip": True, "clip": 5.0}
PRECISIONS = ["fp32", "bf16", "fp16"]


class _Nowhere(TrainCheckpoints):
    """Saves nothing: tensors of the stand-in cannot be saved."""

    def save(self, *_: object) -> Any:
        """Do nothing."""

    def last(self, *_: object) -> None:
        """Find nothing."""


@dataclass(frozen=True)
class Watched:
    """Everything that happened on the stand-in."""

    steps: list[Seen]  # training steps
    around: list[Seen]  # with the batch, and what follows a step
    rest: Seen


def watched(mode: StandIn, run: Any) -> tuple[Any, Watched]:
    steps: list[Seen] = []
    around: list[Seen] = []
    with (
        patch.object(loop, "train_step", recorded(train_step, mode, steps)),
        patch.object(Training, "take_step", recorded(Training.take_step, mode, around)),
        patch.object(work, "TrainCheckpoints", _Nowhere),
        autocasting(),
        mode.watched() as rest,
    ):
        return run(), Watched(steps, around, rest)


def assert_no_waiting(found: Watched) -> None:
    assert len(found.steps) > 3
    assert [fault for seen in found.steps for fault in seen.faults] == []
    assert all(seen.forward > 20 and seen.backward > 10 for seen in found.steps)
    around = [fault for seen in found.around for fault in seen.faults]
    assert {fault.kind for fault in around} == {"copied"}
    assert all("/data/" in fault.line for fault in around), "only the batch is copied"
    assert {fault.kind for fault in found.rest.faults} == {"read", "copied"}  # between steps, but never `double`


# ------------------------------------------------------------------------------------- training


def trained(device: torch.device, **settings: Any) -> tuple[TrainOutcome, Watched]:
    given = problem(**EVERYTHING | settings)
    with stand_in(has_double=False) as mode:
        run = Training(given, Device.of(given.config, device, Processes()), _Nowhere(Path()), Notes())
        return watched(mode, run.run)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_a_training_step_waits_for_nothing(optimiser: str, precision: str) -> None:
    _, found = trained(DEVICE, optimiser=optimiser, precision=precision, accumulate=2)
    assert_no_waiting(found)
    step = found.steps[-1]
    print(f"{optimiser}, {precision}: {step.forward} launches forwards and in updates, {step.backward} backwards")


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_stand_in_trains_as_the_cpu_does(precision: str) -> None:
    """Also with autocast, which is torch's own on the CPU."""
    (there, _), (here, _) = (trained(device, fuse=False, precision=precision) for device in (DEVICE, CPU))
    assert there.score.loss == pytest.approx(here.score.loss, rel=1e-3)


def test_a_test_waits_once() -> None:
    """Not once for each batch."""
    _, found = trained(DEVICE, batch=10)
    reads = [fault for fault in found.rest.faults if fault.kind == "read" and "train/measure.py" in fault.line]
    assert len(reads) == 2  # after the epoch and at the end


# ------------------------------------------------------------------------------------- compression


def compressed(device: torch.device, folder: Path, **settings: Any) -> tuple[Smaller, Watched]:
    short = {"epochs": 1, "loop_epochs": 1, "fine_epochs": 1}
    config = CompressConfig.model_validate(SHORT | short | settings)
    with stand_in(has_double=False) as mode:
        found = Device.of(config, device, Processes())
        given = CompressionProblem(Subject("small", "small", network(SMALL), ()), config, tiny_data(), found)
        given.check()
        folder.mkdir(exist_ok=True)

        def run() -> Smaller:
            going = CompressWork(given, RunFolder(folder), found, CompressWatcher())
            weights, _ = going.dense()
            shrunk = going.loops(weights)
            going.baseline(weights, shrunk)
            return going.fine(shrunk)

        return watched(mode, run)


@pytest.mark.parametrize("precision", mostly_long(PRECISIONS, "fp16"))
def test_a_step_under_the_penalty_waits_for_nothing(precision: str, tmp_path: Path) -> None:
    smaller, found = compressed(DEVICE, tmp_path, precision=precision)
    assert_no_waiting(found)
    assert Size.of(smaller.text.graph).parameters < Size.of(network(SMALL).graph()).parameters
    step = found.around[-1]
    print(f"{precision}: {step.forward} launches forwards and in updates, {step.backward} backwards")


@pytest.mark.parametrize("prune", mostly_long(["removal", "zero", "entropy"], "removal"))
def test_the_stand_in_removes_what_the_cpu_removes(prune: str, tmp_path: Path) -> None:
    """Measured, selected and shrunk, without doubles on one of them."""
    (there, _), (here, _) = (
        compressed(device, tmp_path / device.type, prune=prune, loops=1) for device in (DEVICE, CPU)
    )
    assert there.text.text == here.text.text
    assert there.score.loss == pytest.approx(here.score.loss, rel=1e-3)
