"""The auxiliary head: its position, its gradients, and its removal after training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.cli.network_options import load_network
from bayesnas_graph.codegen.emit import build, emit, transfer
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.train.auxiliary import place_of_head, with_auxiliary_head
from bayesnas_graph.train.learner import TrainLearner, new_learner
from bayesnas_graph.train.step import train_step
from tests.helpers import body, graph
from tests.train.networks import FIXED, device, problem, trained


@pytest.mark.parametrize(
    ("space", "parameters", "expected"),
    [
        ("darts_v2", ["width=4", "cells=20"], "backbone.y.s.15.concat"),  # of cells from 2 on: the 14th of 20
        ("resnet18_cifar", [], "y.stage_4.basic_block.relu"),
        ("lenet5", [], "conv_pool_2.max_pool"),
    ],
)
def test_where_it_is(space: str, parameters: list[str], expected: str) -> None:
    assert place_of_head(load_network(Path(space), None, parameters).graph(), None) == expected


def test_where_images_get_smaller_outside_of_motifs() -> None:
    found = graph(body("x -> out : conv() > max_pool(3, 2) > conv()", "image(3, 8, 8) -> image(3, 4, 4)"))
    assert place_of_head(found, None) == "max_pool"


def test_by_name() -> None:
    found = graph(FIXED)
    assert place_of_head(found, "y.residual") == "y.residual.relu"
    assert place_of_head(found, "y.reduction.h.x.bn") == "y.reduction.h.x.bn"
    with pytest.raises(NasError) as error:
        place_of_head(found, "y.residul")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS601"
    assert diagnostic.help == "did you mean `y.residual`?"


def test_no_place() -> None:
    same = body("x -> out : conv(4) > relu > global_avg_pool > linear(10)", "image(1, 8, 8) -> classes(10)")
    with pytest.raises(NasError, match="no place for an auxiliary head"):
        problem(same)
    assert len(problem(same, auxiliary_at="conv").trained_graph.outputs) == 2
    assert len(problem(same, auxiliary=0.0).trained_graph.outputs) == 1


def test_on_a_vector() -> None:
    found = with_auxiliary_head(graph(FIXED), "global_avg_pool", 7)
    passes.verify(found)
    assert [str(node.op) for node in found][-2:] == ["relu", "linear(width = 7)"]


def test_it_computes_what_it_says_and_leaves_the_network_alone() -> None:
    plain, place = graph(FIXED), "y.reduction.relu"
    programs = emit(plain, standalone=True), emit(with_auxiliary_head(plain, place, 10))
    torch.manual_seed(0)
    other = build(programs[1]).eval()
    network = build(programs[0]).eval()
    network.load_state_dict(transfer(other.state_dict(), programs[1], programs[0]))
    x = torch.rand(3, 1, 8, 8)
    first, second = other(x)
    assert torch.equal(first, network(x))
    head = other.get_submodule("auxiliary_linear")
    assert isinstance(head, nn.Linear)
    value = nn.Sequential(*(other.get_submodule(name) for name in ("y_conv", "y_bn", "y_residual", "y_reduction")))(x)
    torch.testing.assert_close(second, head(value.relu().mean((2, 3))))


def learner(**settings: Any) -> TrainLearner:
    given = problem(**settings, drop_path=0.0, ema=0.0)
    seed_everything(0)
    return new_learner(given, device(given.config))


def test_its_loss_counts_with_its_weight() -> None:
    """One step without momentum and clipping follows the gradient of the weighted sum of both losses."""
    plain: dict[str, Any] = {"clip": 0, "weight_decay": 0.0, "fuse": False}
    given = {weight: learner(auxiliary=weight, **plain) for weight in (0.5, 1.0, 1.5)}
    start = {name: value.clone() for name, value in given[0.5].module.state_dict().items()}
    batch = next(given[0.5].problem.batches(given[0.5].device, 0))
    moved = {}
    for weight, one in given.items():
        one.module.load_state_dict(start)
        before = {name: value.detach().clone() for name, value in one.module.named_parameters()}
        train_step(one, batch, 0)
        moved[weight] = {name: value.detach() - before[name] for name, value in one.module.named_parameters()}
    for name in moved[0.5]:
        expected = (moved[0.5][name] + moved[1.5][name]) / 2
        torch.testing.assert_close(moved[1.0][name], expected, rtol=1e-3, atol=1e-6)
    after = next(name for name in moved[1.0] if name.startswith("linear"))
    torch.testing.assert_close(moved[0.5][after], moved[1.5][after])
    assert not torch.allclose(moved[0.5]["y_conv.weight"], moved[1.5]["y_conv.weight"])


def test_its_weights_are_in_checkpoints_and_not_in_the_result(tmp_path: Path) -> None:
    outcome = trained(tmp_path, epochs=1)
    saved = torch.load(tmp_path / "step-000000010.pt", weights_only=True)
    assert [name for name in saved["weights"] if "auxiliary" in name] == [
        *("auxiliary_linear.weight", "auxiliary_linear.bias")
    ]
    assert outcome.weights.keys() == build(emit(graph(FIXED), standalone=True)).state_dict().keys()
