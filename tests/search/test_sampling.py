"""Strategies that draw networks: what is not drawn is not computed, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph import api, passes
from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.codegen.emit import build, transfer
from bayesnas_graph.runs.device import program_for
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runs.step import apply_gradients, unscale
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.runtime import dropping
from bayesnas_graph.search.checkpoint import from_plain, to_plain
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.sampling import Sampling
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategies.random import Random
from bayesnas_graph.search.strategy import Draw, Part, Rates, Strategy
from tests.helpers import graph
from tests.search.runs import assert_same, checkpoints
from tests.search.spaces import PLAIN, SHORT, TINY, asked_often, config, device, problem, search
from tests.search.test_numbers import NUMBERS
from tests.search.test_shared_weights import RESOLUTION, SIAMESE
from tests.search.test_variants import FEW, MIXED, RULED

DRAWING = [name for name, info in STRATEGIES.items() if info.draws]
RATES = Rates(weights=0.05, gates=0.1, intensities=(0.5, 0.5))
# A network whose output is a choice, and which may be drawn without any weights.
BARE = """
network net : image(1, 8, 8) -> classes(1) {
    in x
    x -> out : choose { global_avg_pool, global_max_pool, global_avg_pool > linear(1) }
}
"""
SPACES = {
    "tiny": TINY,
    "plain": PLAIN,
    "mixed": MIXED,
    "ruled": RULED,
    "numbers": NUMBERS,
    "siamese": SIAMESE,
    "resolution": RESOLUTION,
}


def started(name: str, text: str = MIXED, **settings: Any) -> tuple[SearchLearner, Strategy]:
    """A learner that has begun, with random logits."""
    given = problem(text, strategy=name, **settings)
    torch.manual_seed(0)
    learner = new_learner(given.graph, given.config, device(given.config))
    strategy = strategy_of(given.config)
    learner = strategy.start(learner, next(given.batches(learner.device, 0)))
    if "logits" in learner.beliefs:
        learner.beliefs["logits"].normal_(generator=torch.Generator().manual_seed(0))
    return learner, strategy


def drawn(learner: SearchLearner, strategy: Strategy, step: int, part: Part) -> Draw:
    """The draw of a step, which sets the gates."""
    draw = strategy.draw(learner, replace(RATES, step=step), part)
    assert draw is not None
    assert draw.opened is not None
    learner.supernet.set_gates(draw.gates.detach().to(learner.supernet.gates.dtype))
    return draw


def gradients(learner: SearchLearner, draw: Draw, *, whole: bool) -> tuple[Tensor, dict[str, Tensor | None], Tensor]:
    """The outputs, the gradients of all weights, and the slopes of the gates."""
    like = next(learner.supernet.module.parameters())
    shape = next(node.shape for node in learner.graph if node.op.is_input)
    images = torch.rand(6, *shape, dtype=like.dtype, generator=torch.Generator().manual_seed(1))
    learner.supernet.module.zero_grad()
    with learner.computing(None if whole else draw.opened):
        outputs = learner.called(images)
        torch.autograd.backward(CrossEntropy()(outputs, torch.arange(6) % outputs.shape[1]))
    grads = {name: parameter.grad for name, parameter in learner.supernet.module.named_parameters()}
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in learner.supernet.gate_parameters()]
    return outputs.detach(), grads, learner.supernet.in_order(found)


@contextmanager
def executed(network: nn.Module) -> Iterator[set[str]]:
    """The paths of all modules that are called within this block."""
    seen: set[str] = set()
    hooks = [
        module.register_forward_pre_hook(lambda _module, _inputs, path=path: seen.add(path))
        for path, module in network.named_modules()
    ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def modules_behind(learner: SearchLearner, gates: set[str]) -> set[str]:
    """The paths of modules that are only used behind some of these gates."""
    slots = learner.supernet.program.modules
    paths = [(slots[node.name].path, bool(gates & set(node.behind))) for node in learner.graph if node.name in slots]
    return {path for path, is_behind in paths if is_behind} - {path for path, is_behind in paths if not is_behind}


def closed(learner: SearchLearner, draw: Draw, *, wanted: bool = True) -> set[str]:
    """The names of the gates that are closed; without `wanted`, of those whose slopes are not wanted either."""
    assert draw.opened is not None
    gates = zip(learner.supernet.names, draw.opened.is_open, draw.opened.wanted, strict=True)
    return {name for name, is_open, is_wanted in gates if not is_open and (wanted or not is_wanted)}


# ------------------------------------------------------------------------------------ the same results


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("space", SPACES)
def test_a_drawn_network_computes_what_the_whole_one_does(name: str, space: str) -> None:
    """Outputs, gradients of weights, and what the logits learn. Norms are in evaluation mode."""
    settings: tuple[dict[str, Any], ...] = ({}, {"zero": "before"}, {"fuse": False, "mode": "proxyless"})
    for chosen in settings:
        learner, strategy = started(name, SPACES[space], **chosen)
        learner.supernet.module.double().eval()
        for step in range(4):
            for part in ("weights", "gates"):
                draw = drawn(learner, strategy, step, part)
                outputs, grads, slopes = gradients(learner, draw, whole=False)
                expected, whole_grads, whole_slopes = gradients(learner, draw, whole=True)
                torch.testing.assert_close(outputs, expected)
                gates = {slot.path for slot in learner.supernet.program.gates.values()}
                for path in grads.keys() - gates:
                    own, other = grads[path], whole_grads[path]
                    if own is None:
                        assert other is None or not other.any()
                    else:
                        assert other is not None
                        torch.testing.assert_close(own, other)
                if isinstance(strategy, Sampling) and part == "gates":
                    both = [
                        torch.autograd.grad(draw.gates, draw.numbers, each, retain_graph=True)[0]
                        for each in (slopes, whole_slopes)
                    ]
                    torch.testing.assert_close(*both)


@pytest.mark.parametrize("name", ["gdas", "proxyless"])
@pytest.mark.parametrize("gates_on", ["train", "held_out"])
def test_a_step_moves_logits_and_weights_as_the_whole_network_does(name: str, gates_on: str) -> None:
    """Without norms, momentum and decay, which move the weights of candidates that are not drawn."""
    found = []
    for whole in (False, True):
        learner, _ = started(name, PLAIN, gates_on=gates_on, momentum=0.0, weight_decay=0.0, accumulate=2)
        learner.supernet.module.double()
        if whole:
            learner = replace(learner, drawn=None, network=learner.supernet.module)
        for step in range(5):
            numbers = torch.Generator().manual_seed(step)
            images = torch.rand(12, 1, 8, 8, dtype=torch.float64, generator=numbers)
            batch = images[:6], torch.arange(6)
            held_out = (images[6:], torch.arange(6)) if gates_on == "held_out" else None
            train_step(learner, batch, replace(RATES, step=step), held_out)
        weights = {name: value.clone() for name, value in learner.module.state_dict().items()}
        found.append({**weights, **learner.beliefs})
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-12)


def test_no_gates_means_everything() -> None:
    learner, strategy = started("gdas")
    assert learner.drawn is not None
    draw = drawn(learner, strategy, 0, "weights")
    with executed(learner.supernet.module) as seen, learner.computing(None):
        learner.called(torch.rand(2, 1, 8, 8))
    assert seen >= modules_behind(learner, closed(learner, draw))


# ------------------------------------------------------------------------------------ nothing else


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("space", ["tiny", "mixed", "ruled"])
def test_what_is_not_drawn_is_not_computed(name: str, space: str) -> None:
    """Nor does it change: not its weights, not its statistics."""
    learner, strategy = started(name, SPACES[space])
    for step in range(5):
        rates = replace(RATES, step=step)
        draw = drawn(learner, strategy, step, "weights")
        left_out = modules_behind(learner, closed(learner, draw))
        assert left_out
        before = {name: value.clone() for name, value in learner.module.state_dict().items()}
        with executed(learner.supernet.module) as seen:
            train_step(learner, (torch.rand(6, 1, 8, 8), torch.arange(6)), replace(rates, gates=0.0))
        assert seen
        assert not seen & left_out
        for path, value in learner.module.state_dict().items():
            if path.rpartition(".")[0] in left_out:
                assert torch.equal(value, before[path])


@pytest.mark.parametrize("name", ["gdas", "proxyless"])
def test_logits_are_learnt_from_what_is_drawn(name: str) -> None:
    """ProxylessNAS computes one candidate more, but not its gradient."""
    learner, strategy = started(name, TINY)
    more = 0
    for step in range(5):
        draw = drawn(learner, strategy, step, "gates")
        with executed(learner.supernet.module) as seen:
            _, grads, _ = gradients(learner, draw, whole=False)
        assert not seen & modules_behind(learner, closed(learner, draw, wanted=False))
        left_out = modules_behind(learner, closed(learner, draw))
        more += len(seen & left_out)
        assert not [path for path, grad in grads.items() if path.rpartition(".")[0] in left_out and grad is not None]
    assert (more > 0) == (name == "proxyless")


def test_random_evaluates_what_it_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, strategy = started("random", TINY, samples=5)
    assert isinstance(strategy, Random)
    batches = [(torch.rand(6, 1, 8, 8), torch.arange(6))]
    own = SearchLearner.computing
    left_out: list[set[str]] = []

    def computing(given: SearchLearner, opened: Any) -> Any:
        off = {name for name, is_open in zip(given.supernet.names, opened.is_open, strict=True) if not is_open}
        left_out.append(modules_behind(given, off))
        return own(given, opened)

    monkeypatch.setattr(SearchLearner, "computing", computing)
    with executed(learner.supernet.module) as seen:
        strategy.judge(learner, batches, 1)
    assert len(left_out) == 5
    never = left_out[0].intersection(*left_out)
    assert never < left_out[0]
    assert not seen & never


def test_a_drawn_network_without_weights() -> None:
    """If nothing is drawn, or only pools, there is a loss that no weight has a gradient of."""
    given = config(strategy="random")
    learner = new_learner(passes.run(graph(BARE), passes.SWITCHES), given, device(given))
    strategy = strategy_of(given)
    kinds = set()
    for step in range(20):
        draw = drawn(learner, strategy, step, "weights")
        outputs, grads, _ = gradients(learner, draw, whole=False)
        torch.testing.assert_close(outputs, gradients(learner, draw, whole=True)[0])
        kinds.add((bool(outputs.any()), any(grad is not None for grad in grads.values())))
        train_step(learner, (torch.rand(6, 1, 8, 8), torch.zeros(6, dtype=torch.long)), replace(RATES, step=step))
    assert kinds == {(False, False), (True, False), (True, True)}


def test_terms_of_drawn_sums_are_dropped() -> None:
    learner, strategy = started("gdas", PLAIN)
    draw = drawn(learner, strategy, 0, "weights")
    images = torch.rand(6, 1, 8, 8)
    with learner.computing(draw.opened), torch.no_grad():
        kept = learner.called(images)
        with dropping(0.9, torch.Generator().manual_seed(0)):
            assert not torch.equal(learner.called(images), kept)
        assert torch.equal(learner.called(images), kept)


def test_strategies_say_whether_they_draw() -> None:
    for name in STRATEGIES:
        strategy = strategy_of(config(strategy=name))
        assert (name in DRAWING) == isinstance(strategy, Sampling | Random)
        learner, _ = started(name)
        assert (learner.drawn is not None) == (name in DRAWING)
        with learner.computing(None):
            assert learner.called(torch.rand(2, 1, 8, 8)).shape == (2, 10)


def test_compiled_choices_are_computed_whole() -> None:
    given = problem(TINY, strategy="gdas", compile=True)
    with patch("bayesnas_graph.runs.device.compile_regions") as compiled:
        learner = new_learner(given.graph, given.config, device(given.config))
    assert compiled.called
    assert learner.drawn is None


# ------------------------------------------------------------------------------------ runs


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_a_resumed_search_is_the_same(name: str, optimiser: str, tmp_path: Path) -> None:
    """Also the state of the optimizer: weights that have not been drawn yet have none."""
    more = {"samples": 2, "log_steps": 1, "checkpoint_steps": 1, "drop_path": 0.2}
    settings: dict[str, Any] = {**FEW, **more, "strategy": name, "optimiser": optimiser}
    search(problem(MIXED, **settings), tmp_path / "whole").run()
    for often in (1, 4, 7):
        folder = tmp_path / f"resumed{often}"
        with pytest.raises(Interrupted):
            search(problem(MIXED, **settings), folder, stop=asked_often(often)).run()
        search(problem(MIXED, **settings), folder).run()
        assert_same(checkpoints(folder), checkpoints(tmp_path / "whole"))


@pytest.mark.parametrize("name", DRAWING)
def test_a_search_of_an_older_version_is_continued(name: str) -> None:
    """It computed sibling operations together, and so its weights are stored in another way."""
    given = problem(TINY, strategy=name, **FEW)
    learner, _ = started(name, TINY, **FEW)
    train_step(learner, next(given.batches(learner.device, 0)), RATES)
    content = to_plain(learner, SearchProgress(step=1))
    program = program_for(given.graph, given.config, replace(learner.options, apart=False))
    assert program != learner.supernet.program
    whole = build(program).state_dict()
    content["weights"] = {**whole, **transfer(content["weights"], learner.supernet.program, program)}
    paths = {path for path, _ in build(program).named_parameters()} - {slot.path for slot in program.gates.values()}
    content["memory"] = {"momentum_buffer": {path: torch.ones_like(whole[path]) for path in paths}}
    del content["apart"]
    restored, progress = from_plain(content, given, learner.device)
    assert progress.step == 1
    for path, parameter in learner.module.named_parameters():
        assert torch.equal(parameter, restored.module.get_parameter(path))
    assert all(value.eq(1).all() for value in restored.memory()["momentum_buffer"].values())
    train_step(restored, next(given.batches(learner.device, 1)), RATES)


@pytest.mark.parametrize("name", DRAWING)
def test_weights_are_exported(name: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.nas").write_text(TINY)
    settings = {**SHORT, **FEW, "strategy": name, "samples": 2}
    settings["intensity"] = settings.pop("lambda")
    found = api.search(tmp_path / "tiny.nas", output=tmp_path / "run", allow_python=True, **settings)
    model = api.derive(found, allow_python=True).model(weights=True).build().eval()
    images = torch.rand(2, 1, 8, 8)
    with torch.no_grad(), found.outcome.learner.supernet.measuring() as supernet:
        torch.testing.assert_close(model(images), supernet(images))


def test_a_step_without_gradients() -> None:
    """As of a network without weights that was drawn."""
    weight = nn.Parameter(torch.ones(1))
    optimiser, scaler = torch.optim.SGD([weight], 0.1), GradientScaler("cpu")
    for gradient in (None, None, 2.0, None):
        weight.grad = None if gradient is None else scaler.scale(torch.tensor([gradient]))
        unscale(optimiser, scaler, 0.1)
        apply_gradients(optimiser, scaler, 1.0)
    assert weight.tolist() == pytest.approx([0.9])
