"""Every setting, alone and combined: the search completes with consistent files."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
import torch
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph.bayes import Estimator, Ranking
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir.ops import Choice, Input
from bayesnas_graph.passes import Mode, verify
from bayesnas_graph.passes.analysis import violated
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search.loop import SearchOutcome
from bayesnas_graph.search.problem import Problem
from tests.conftest import LONG
from tests.helpers import check
from tests.programs import Program
from tests.search.runs import assert_same, checkpoints
from tests.search.spaces import TINY, asked_often, config, problem, search, tiny_data

FEW: dict[str, Any] = {"iterations": 2, "steps": 4, "warmup": 2, "finish": 2, "curvature_batches": 1}

CHOICES: dict[str, tuple[Any, ...]] = {
    "strategy": tuple(STRATEGIES),
    "curvature": get_args(Estimator),
    "ranking": get_args(Ranking),
    "mode": get_args(Mode),
    "schedule": ("cosine", "linear", "step", "constant"),
    "dependency": ("none", "one_hop", "whole_path"),
    "zero": ("before", "after"),
    "gauge": ("node", "none"),
    "unit": ("contribution", "rms", "gate"),
    "gates_on": ("train", "held_out"),
    "optimiser": ("sgd", "adamw"),
    "precision": ("fp32", "bf16"),
    "channels_last": (False, True),
    "fuse": (True, False),
    "flip": (False, True),
    "crop": (0, 2),
    "cutout": (0, 3),
    "resized_crop": (0.0, 0.08),
    "jitter": (0.0, 0.4),
    "rand_augment": (0, 2),
    "rand_magnitude": (9.0, 3.0),
    "mixup": (0.0, 0.4),
    "cutmix": (0.0, 1.0),
    "drop_path": (0.0, 0.3),
    "momentum": (0.0, 0.9),
    "label_smoothing": (0.0, 0.1),
    "clip": (0.0, 1.0),
    "rate_warmup": (0, 3),
    "accumulate": (1, 2),
    "draws": (1, 3),
    "lambda": (0.01, 0.5, 50.0),
    "lambda_zero": (None, 0.001, 10.0),
    "target_params": (None, 150, 10_000),
    "target_flops": (None, 2000),
    "deterministic": (False, True),
}

SINGLE = [(key, value, "bayes") for key, values in CHOICES.items() for value in values[1:]]
PRIOR = ("curvature", "ranking", "dependency", "zero", "gauge", "unit", "gates_on", "lambda", "lambda_zero")
SINGLE += [(key, value, "bayesnas") for key in (*PRIOR, "target_params", "target_flops") for value in CHOICES[key][1:]]

# A space of every kind of choice: of one, of any number, within another, and optional.
MIXED = """
motif inner {
    in x
    x -> out : choose 1 { conv(k = 1) > bn, identity, max_pool(3) }
}

cell block {
    in x
    node h[2]
    x -> h[0] : choose { inner > relu, conv() > bn, identity }
    x, h[0] -> h[1] : choose 1 { conv(k = 1) > bn, avg_pool(3) }
    h[0] -> h[1] : optional tanh
    concat(h) -> out : bn > conv(channels(x), 1)
}

network net : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(4, stride = 2) > bn > block > dropout(0.2) > block > global_avg_pool > linear(10)
}
"""


# Choices of exactly so many, and requirements on edges, in a cell that is used twice.
RULED = """
cell block {
    in x, y
    node h[3]
    for j in 0..3 {
        x, y, h[0..j] -> h[j] : choose 1 { conv(k = 1) > bn, avg_pool(3), identity }
        require inputs(h[j]) == 2
    }
    require edge(x, h[1]) implies edge(h[0], h[2])
    require edges <= 6
    mean(h) -> out : bn
}

network net : image(1, 8, 8) -> classes(10) {
    in x
    node a = x : conv(4, stride = 2) > choose exactly 1 { bn, tanh } > choose exactly 2 { relu, tanh, bn } > bn
    node b = block(a, a)
    node c = block(a, b)
    c -> out : optional choose exactly 1 { bn, relu } > global_avg_pool > linear(10)
    c -> out : global_avg_pool > linear(10)
}
"""


def assert_sound(outcome: SearchOutcome, given: Problem) -> None:
    """The architecture is a whole network, of what was decided to keep and nothing else."""
    verify(outcome.graph)
    kept = {verdict.name for verdict in outcome.decision.verdicts if verdict.keep}
    assert {verdict.name for verdict in outcome.decision.verdicts} == {gate.group for gate in given.graph.gates}
    assert {gate.group for gate in outcome.graph.gates} == kept
    assert all(verdict.keep == verdict.why.keep for verdict in outcome.decision.verdicts)
    assert outcome.graph.outputs == given.graph.outputs
    assert violated(given.graph, outcome.decision.off) == []
    reached = {name for node in outcome.graph for name in [node.name] if isinstance(node.op, Input)}
    for node in outcome.graph:
        edges = outcome.graph.inputs(node.name)
        if edges and all(edge.source in reached for edge in edges):
            reached.add(node.name)
        if isinstance(node.op, Choice) and node.op.limit is not None:
            assert len(edges) <= node.op.limit
    assert reached == {node.name for node in outcome.graph}
    with torch.no_grad(), outcome.learner.supernet.measuring() as network:
        outputs = network(torch.rand(3, 1, 8, 8))
    assert outputs.shape == (3, 10)
    assert outputs.isfinite().all()
    assert 0 <= outcome.accuracy <= 1
    assert outcome.why


@pytest.mark.parametrize(("key", "value", "strategy"), SINGLE, ids=lambda value: str(value))
def test_each(key: str, value: Any, strategy: str, tmp_path: Path) -> None:
    given = problem(**FEW | {"strategy": strategy, key: value})
    assert_sound(search(given, tmp_path).run(), given)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_obeys_the_rules_of_a_space(strategy: str, tmp_path: Path) -> None:
    given = problem(RULED, **FEW | {"strategy": strategy, "finalists": 2, "finalist_steps": 2})
    outcome = search(given, tmp_path).run()
    assert_sound(outcome, given)
    reads = {node.label: len(outcome.graph.inputs(node.name)) for node in outcome.graph if node.label.startswith("h[")}
    assert reads == {"h[0]": 2, "h[1]": 2, "h[2]": 2}
    kept = [len(outcome.graph.inputs(node.name)) for node in outcome.graph if node.op.candidate_least]
    assert kept[:2] == [1, 2]


@settings(
    max_examples=10 * LONG, phases=[Phase.explicit, Phase.reuse, Phase.generate]
)  # to find smaller ones takes too long
@given(data=st.data(), text=st.sampled_from([TINY, MIXED, RULED]))
def test_together(data: st.DataObject, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    chosen = {key: data.draw(st.sampled_from(values), label=key) for key, values in CHOICES.items()}
    given = problem(text, **FEW, **chosen)
    assert_sound(search(given, tmp_path_factory.mktemp("together")).run(), given)


def random_space(random: Random) -> str:
    """A random program with a network for ten classes."""
    program = Program(random, fault=0)
    types = r"(image\(4, 8, 8\) -> image\(w, 8, 8\)|sequence\(4, 8\) -> sequence\(w, 8\))"
    text = re.sub(rf"network net\(w = (\d+)\) : {types}", r"motif net(w = \1)", program.text())
    read = "to_sequence > max_pool1d(2, 2) > " if program.sequences else ""
    body = f"in x x -> out : conv(4, stride = 2) > {read}net() > global_avg_pool > linear(10)"
    return f"{text}\nnetwork main : image(1, 8, 8) -> classes(10) {{ {body} }}\n"


@settings(max_examples=8 * LONG, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_random_spaces(data: st.DataObject, random: Random, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Any valid space can be searched, unless the loss explodes."""
    chosen = {key: data.draw(st.sampled_from(values), label=key) for key, values in CHOICES.items()}
    space, diagnostics = check(random_space(random))
    assume(not any(diagnostic.severity == "error" for diagnostic in diagnostics))
    try:
        given = Problem.of(space.networks[-1], tiny_data(), config(**FEW, **chosen))
        assert_sound(search(given, tmp_path_factory.mktemp("random")).run(), given)
    except NasError as error:
        if error.diagnostics[0].code != "NAS605":
            raise


def test_fp16_is_for_those_who_ask(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says where it has no fast way
        given = problem(**FEW, precision="fp16")
        assert_sound(search(given, tmp_path).run(), given)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        (TINY, {"optimiser": "adamw", "precision": "bf16"}),
        (TINY, {"drop_path": 0.3, "crop": 2, "flip": True, "cutout": 3}),
        (MIXED, {"gates_on": "held_out", "accumulate": 2}),
        (TINY, {"target_params": 150, "lambda": 0.05}),
        (TINY, {"target_params": 150, "lambda": 0.05, "strategy": "bayesnas"}),
        (MIXED, {"mode": "proxyless", "zero": "before", "unit": "gate"}),
        (MIXED, {"lambda": 5.0, "optimiser": "adamw", "strategy": "bayesnas"}),
        *((MIXED, {"strategy": name, "samples": 3}) for name in STRATEGIES),
    ],
    ids=["adamw", "augmented", "held_out", "target", "growing", "proxyless", "narrower", *STRATEGIES],
)
def test_resuming_gives_the_same_result(text: str, chosen: dict[str, Any], tmp_path: Path) -> None:
    """Bitwise equal in spite of dropout, augmentation, drop-path and random labels."""
    given = problem(text, **FEW, checkpoint_steps=2, **chosen)
    whole = search(given, tmp_path / "whole").run()
    with pytest.raises(Interrupted):
        search(given, tmp_path / "stopped", stop=asked_often(7)).run()
    stopped = search(given, tmp_path / "stopped").run()
    assert stopped.decision == whole.decision
    assert stopped.accuracy == whole.accuracy
    assert_same(*(max(checkpoints(tmp_path / name).items())[1] for name in ("whole", "stopped")))
