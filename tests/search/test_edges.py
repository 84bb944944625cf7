"""Edge cases: smallest searches, unusual spaces, excessive settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph.bayes import Why
from bayesnas_graph.data import Data, InMemory, Statistics
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.passes import Disconnected, prune
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search.loop import SearchOutcome
from bayesnas_graph.search.problem import Problem
from tests.helpers import network
from tests.search.spaces import TINY, Notes, config, problem, search, tiny_data
from tests.search.test_variants import FEW, MIXED, assert_sound


def run(folder: Path, given: Problem) -> tuple[SearchOutcome, Notes]:
    notes = Notes()
    outcome = search(given, folder, notes).run()
    assert_sound(outcome, given)
    return outcome, notes


def of(body: str) -> str:
    return f"network net : image(1, 8, 8) -> classes(10) {{ in x {body} }}"


# --------------------------------------------------------------------------------------- the smallest


@pytest.mark.parametrize("warmup", [0, 1])
@pytest.mark.parametrize("finish", [0, 1])
def test_one_step(warmup: int, finish: int, tmp_path: Path) -> None:
    outcome, notes = run(tmp_path, problem(warmup=warmup, steps=1, iterations=1, finish=finish))
    assert outcome.why == "all iterations are done"
    assert [row.step for row in notes.rows][-1] == warmup + 1 + finish
    assert len(notes.iterations) == 1


def test_all_samples_in_a_batch(tmp_path: Path) -> None:
    given = problem(batch=160, warmup=1, steps=1, iterations=1)
    assert given.steps_per_epoch == 1
    run(tmp_path, given)
    with pytest.raises(NasError) as error:
        problem(batch=161)
    assert [(d.code, d.message) for d in error.value.diagnostics] == [
        ("NAS601", "a batch of 161 is larger than the 160 samples to train on")
    ]


def test_one_sample_held_out(tmp_path: Path) -> None:
    given = problem(**FEW, held_out=0.005, gates_on="held_out")
    assert len(given.indices[1]) == 1
    run(tmp_path, given)


def test_default_epochs(tmp_path: Path) -> None:
    given = problem(batch=80, steps=None, warmup=None, finish=None, iterations=1)
    assert (given.warmup, given.steps, given.finish, given.total_steps) == (2, 2, 2, 4)
    run(tmp_path, given)


# ----------------------------------------------------------------------------------- too much is closed


@pytest.mark.parametrize("text", [TINY, MIXED], ids=["tiny", "mixed"])
@pytest.mark.parametrize("gauge", ["node", "none"])
def test_a_penalty_that_closes_everything(text: str, gauge: str, tmp_path: Path) -> None:
    outcome, notes = run(tmp_path, problem(text, **HUGE, gauge=gauge))
    kept = [verdict for verdict in outcome.decision.verdicts if verdict.keep]
    assert kept
    if gauge == "none":  # without it gates do not compete, and the last goes with the first
        assert {verdict.why for verdict in kept} <= {Why.BRIDGE, Why.KEPT}  # it is reopened, and may stay open
        assert any("stays open" in message for message in notes.messages)


HUGE: dict[str, Any] = FEW | {"strategy": "bayesnas", "steps": 8, "lambda": 1e3, "gate_rate": 1.0}


@pytest.mark.parametrize("text", [TINY, MIXED], ids=["tiny", "mixed"])
def test_nothing_is_worth_such_a_lambda(text: str, tmp_path: Path) -> None:
    """The default strategy closes a few switches at a time, and the architecture has only what the output needs."""
    outcome, notes = run(tmp_path, problem(text, **FEW, **{"lambda": 1e3}))
    kept = [verdict for verdict in outcome.decision.verdicts if verdict.keep]
    assert {verdict.why for verdict in kept} == {Why.BRIDGE}
    assert any("stays open" in message for message in notes.messages)
    for name in (verdict.name for verdict in kept):
        with pytest.raises(Disconnected):
            prune(outcome.graph, {name})


def test_no_switch_is_left(tmp_path: Path) -> None:
    text = of(
        "node y = x : conv(3) node z y -> z y -> z : choose { conv(), tanh } z -> out : global_avg_pool > linear(10)"
    )
    outcome, notes = run(tmp_path, problem(text, **HUGE))
    assert outcome.why == "no switch is left to decide on"
    assert len(notes.iterations) == 1
    assert not list(outcome.graph.gates)
    assert outcome.decision.off == {verdict.name for verdict in outcome.decision.verdicts}
    again, _ = run(tmp_path, problem(text, **HUGE))
    assert again.decision == outcome.decision


def test_neither_switches_nor_weights_are_left(tmp_path: Path) -> None:
    body = "node y x -> y x -> y : optional tanh y -> out : global_avg_pool"
    text = f"network net : image(10, 4, 4) -> classes(10) {{ in x {body} }}"
    given = Problem.of(network(text), channels(), config(**HUGE))
    outcome = search(given, tmp_path).run()
    assert outcome.accuracy > 0.5


def test_a_size_that_cannot_be_had(tmp_path: Path) -> None:
    given = problem(**FEW, strategy="bayesnas", target_params=1)
    outcome, notes = run(tmp_path, given)
    assert outcome.why == "all iterations are done"
    assert not given.on_target(outcome.graph)
    lambdas = [found.intensities[0] for found in notes.iterations]
    assert lambdas == pytest.approx([0.5, 0.75])


def test_a_size_that_is_had_at_once(tmp_path: Path) -> None:
    given = problem(**FEW, strategy="bayesnas", target_params=10**6)
    outcome, notes = run(tmp_path, given)
    assert outcome.why == "the architecture has the size asked for"
    assert len(notes.iterations) == 1
    assert not outcome.decision.off, "there is room for everything"


# ------------------------------------------------------------------------------------------- spaces


@pytest.mark.parametrize("curvature", ["recursive", "mean"])
def test_an_activation_before_any_weight(curvature: str, tmp_path: Path) -> None:
    text = of("x -> out : swish > tanh > conv(4) > choose { conv(), identity } > global_avg_pool > linear(10)")
    run(tmp_path, problem(text, **FEW, curvature=curvature))


@pytest.mark.parametrize(
    "body",
    [
        "x -> out : conv(4) > choose 1 { conv(k = 1), identity, tanh } > global_avg_pool > linear(10)",
        "x -> out : conv(4) > optional relu > global_avg_pool > linear(10)",
        "x -> out : conv(4) > choose { choose { relu, tanh }, choose 1 { bn, gelu } } > global_avg_pool > linear(10)",
        "x -> out : conv(4) > choose { identity } > global_avg_pool > linear(10)",
        "node h[2] = x : choose { conv(2), conv(2, 5) } concat(h) -> out : conv(4) > bn > global_avg_pool > linear(10)",
        "x -> out : flatten > choose { linear(10), relu > linear(10) }",
        "x -> out : conv(4) > dropout(0.5) > choose { conv(), layer_norm } > global_avg_pool > linear(10)",
    ],
)
@pytest.mark.parametrize(
    ("strategy", "intensity"), [("bayes", 0.05), ("bayes", 100.0), ("bayesnas", 0.05), ("bayesnas", 100.0)]
)
def test_spaces(body: str, strategy: str, intensity: float, tmp_path: Path) -> None:
    run(tmp_path, problem(of(body), **FEW, strategy=strategy, **{"lambda": intensity}))


def channels() -> Data:
    """Images whose channels encode the class, so that no weights are needed to classify them."""
    torch.manual_seed(0)
    labels = torch.arange(60) % 10
    images = torch.rand(60, 10, 4, 4) * 0.5
    images[torch.arange(60), labels] += 0.5
    parts = InMemory(images, labels), InMemory(images[:20], labels[:20])
    return Data("channels", *parts, (10, 4, 4), 10, Statistics((0.0,) * 10, (1.0,) * 10))


@pytest.mark.parametrize("chosen", [{}, {"optimiser": "adamw"}, {"clip": 0.0}, {"lambda": 100.0}], ids=str)
def test_no_weights(chosen: dict[str, Any], tmp_path: Path) -> None:
    text = (
        "network net : image(10, 4, 4) -> classes(10) "
        "{ in x x -> out : choose { max_pool(3), avg_pool(3), identity } > global_avg_pool }"
    )
    given = Problem.of(network(text), channels(), config(**FEW, **chosen))
    outcome = search(given, tmp_path).run()
    assert outcome.cost.parameters == 0
    assert outcome.accuracy > 0.5


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (TINY.replace("10", "7"), "NAS504", "`tiny` has 10 classes, but the network `net` outputs 7 classes"),
        (TINY.replace("image(1, 8, 8)", "image(3, 8, 8)"), "NAS504", "images of `tiny` are 1x8x8"),
        (
            "network net : image(1, 8, 8) -> classes(10), classes(10) { in x "
            "node y = x : choose { conv(), tanh } > global_avg_pool node z = y : linear(10) out z, z }",
            "NAS504",
            "the network `net` has 2 outputs, but must have one",
        ),
        (
            "network net : image(1, 8, 8), image(1, 8, 8) -> classes(10) { in x, y "
            "sum(x, y) -> out : choose { conv(), tanh } > global_avg_pool > linear(10) }",
            "NAS504",
            "the network `net` has 2 inputs, but data sets have one",
        ),
    ],
)
def test_what_cannot_be_searched(text: str, code: str, said: str) -> None:
    with pytest.raises(NasError) as error:
        Problem.of(network(text), tiny_data(), config())
    assert [d.code for d in error.value.diagnostics] == [code]
    assert error.value.diagnostics[0].message.startswith(said)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_network_without_choices_is_trained(strategy: str, tmp_path: Path) -> None:
    text = of("x -> out : conv(8) > relu > global_avg_pool > linear(10)")
    given = Problem.of(network(text), tiny_data(), config(strategy=strategy))
    warning = given.nothing_to_decide
    assert warning is not None
    assert (warning.code, warning.severity) == ("NAS606", "warning")
    assert given.warmup == 0
    outcome = search(given, tmp_path).run()
    assert outcome.why == "there was nothing to decide"
    assert outcome.decision.verdicts == ()
    assert outcome.graph == given.graph
    again = search(given, tmp_path).run()
    assert again.accuracy == outcome.accuracy
