"""What can be trained, and errors before the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.settings import assigned, merged
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.run import TrainRun
from tests.helpers import body, network
from tests.search.spaces import TINY
from tests.train.networks import FIXED, config, device, problem


def said(text: str = FIXED, world: int = 1, **settings: Any) -> tuple[str, str, str | None]:
    chosen = config(**settings)
    where = Device.of(chosen, torch.device("cpu"), Processes(0, world))
    with pytest.raises(NasError) as error:
        TrainRun().build_problem(Subject("net", "net", network(text), ()), chosen, Path(), where)
    (diagnostic,) = error.value.diagnostics
    return diagnostic.code, diagnostic.message, diagnostic.help


def in_body(chain: str) -> str:
    return body(f"x -> out : {chain}", "image(1, 8, 8) -> classes(10)")


def test_a_network_with_choices() -> None:
    code, message, help = said(TINY)
    assert (code, message) == ("NAS610", "network `net` still has 4 choices")
    assert help is not None
    assert "derive an architecture first" in help


def test_a_network_without_weights() -> None:
    plain = in_body("pad_channels(10) > global_avg_pool")
    assert said(plain)[:2] == ("NAS610", "network `n` has no weights to train")


def test_settings_that_do_not_go_with_the_data() -> None:
    assert said(data=None)[:2] == ("NAS601", "no data to train on")
    assert said(batch=1000)[:2] == ("NAS601", "a batch of 1000 is larger than the 200 samples to train on")
    assert said(batch=25, world=2)[1] == "a batch of 25 cannot be divided among 2 processes"
    assert said(cutout=16) == (
        "NAS601",
        "`cutout` blanks squares of 16 pixels, but images of `tiny` have 8",
        "`-s cutout=4` is half a side",
    )
    assert said(FIXED.replace("classes(10)", "classes(7)").replace("linear(10)", "linear(7)"))[0] == "NAS504"
    assert said(auxiliary_at="nowhere")[0] == "NAS601"
    alone = in_body("flatten > linear(6) > bn > linear(10)")
    assert "normalises over samples" in said(alone, batch=1, auxiliary=0.0)[1]


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("epoch=3", "unknown setting `epoch`", "did you mean `epochs`?"),
        ("colour=red", "unknown setting `colour`", "`bayesnas-graph train --settings` lists them"),
        ("lambda=0.1", "unknown setting `lambda`", "`bayesnas-graph train --settings` lists them"),
        (
            "ema=1",
            "`ema` should be less than 1",
            "`ema`: decay of the running mean of the weights (0: no running mean)",
        ),
        ("epochs=0", "`epochs` should be greater than or equal to 1", "`epochs`: number of epochs"),
    ],
)
def test_wrong_settings_are_pointed_at(text: str, message: str, help: str) -> None:
    with pytest.raises(NasError) as error:
        merged([assigned(text)], TrainConfig)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.message, diagnostic.help) == ("NAS601", message, help)
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == text


def test_every_sample_is_trained_on_once_in_an_epoch() -> None:
    given: TrainingProblem = problem(crop=0, flip=False, cutout=0)
    where = device(given.config)
    batches = given.batches(where, 0)
    epoch = [next(batches) for _ in range(given.steps_per_epoch)]
    images = [tuple(image.flatten().tolist()) for x, _ in epoch for image in x]
    taken, _ = given.data.train.take(torch.arange(200))
    assert len(images) == len(taken) == 200
    assert len(set(images)) == len({tuple(image.flatten().tolist()) for image in taken})
    later = given.batches(where, 7)
    assert next(later)[0].equal(epoch[7][0]), "from any step on"
