"""A script as users write them. tests/test_wheel.py checks its types against the installed wheel."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, assert_type

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import TensorDataset

from bayesnas_graph import api as nas
from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.builder import (
    Body,
    Number,
    Operation,
    Set,
    Space,
    cell,
    choose,
    classes,
    concat,
    image,
    named_set,
    network,
    ops,
    optional,
    params,
    python_op,
    set_of,
    std,
    when,
)
from bayesnas_graph.data import Data, InMemory, load, statistics
from bayesnas_graph.derive import Architecture, Rule, derive
from bayesnas_graph.diagnostics import render
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.prior import Prior
from bayesnas_graph.search.relaxation import Noise, Relaxation
from bayesnas_graph.search.strategy import Part
from bayesnas_graph.train.events import TrainWatcher


class Losses(SearchWatcher):
    """Remembers the losses of a search."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def logged(self, row: StepRow) -> None:
        self.losses.append(row.loss)


class Sharper(Relaxation):
    """A strategy of one's own."""

    gates_on = "held_out"
    temperatures = (5.0, 0.1)

    def weights(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Tensor:
        return contests.softmax(logits / temperature)


class Swap(nn.Module):
    """An operation for `op swap(groups) from "user_script:Swap"`."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, x: Tensor) -> Tensor:
        return x.roll(self.groups, dims=1)


swap = python_op(Swap)


@named_set
def candidates(width: Number, kernels: tuple[int, ...] = (3, 5)) -> Set:
    """A set of a space in Python."""
    return set_of(*(std.relu_conv_bn(width, k) for k in kernels), ops.identity())


@cell
def block(g: Body, edge: Operation, width: Number, skip: bool = True) -> None:
    """A cell of a space in Python."""
    x = g.input()
    entry = g.node("entry", x, ops.conv(width, 1, bias=False) >> ops.bn())
    h = g.nodes("h", 2)
    for j in g.range(2):
        g.edge([entry, h[:j]], h[j], edge)
    total = g.let("total", 2 * width)
    g.edge(concat(h), g.out, when(total > 4, ops.relu(), ops.tanh()) >> ops.conv(width, 1))


@network
def small(g: Body, width: Number = 4) -> None:
    """A network of a space in Python."""
    x = g.input("x", image(1, 8, 8))
    g.returns(classes(10))
    edge = choose(candidates(width), limit=1)
    h = g.node("h", x, block(edge, width, skip=False) >> optional(swap(2)) >> block(edge=edge, width=2 * width))
    g.edge(h, g.out, ops.global_avg_pool() >> ops.linear(10))
    g.require(params < 20_000)


assert_type(small, Space)
assert_type(block(ops.relu(), 8), Operation)
assert_type(candidates(8), Set)


def stripes() -> tuple[TensorDataset, TensorDataset]:
    """Data for `--data user_script:stripes`."""
    images, labels = torch.rand(20, 1, 8, 8), torch.arange(20) % 2
    return TensorDataset(images, labels), TensorDataset(images, labels)


def own_data() -> Data:
    examples = InMemory(torch.zeros(20, 1, 8, 8, dtype=torch.uint8), torch.arange(20) % 10)
    return Data("own", examples, examples, (1, 8, 8), 10, statistics(examples, 20))


def own_loop(width: int) -> int:
    """A search inside a training loop of one's own. Returns the size of what it finds."""
    net = nas.compile(nas.load("quickstart", width=width))
    optimiser = torch.optim.SGD(net.weight_parameters(), lr=0.05)
    prior = Prior(net, intensity=0.3, rate=0.1)
    batches = [(torch.randn(16, 1, 8, 8), torch.randint(0, 10, (16,)))]
    for x, y in batches:
        loss = cross_entropy(net(x), y)
        torch.autograd.backward(loss)
        optimiser.step()
        prior.step(net)
    decision = prior.update(net, batches, CrossEntropy())
    assert_type([verdict.keep for verdict in decision.verdicts], list[bool])
    derived = derive(net.graph, decision, Rule(per_node=2))
    return cost(derived.graph).parameters


def look(folder: Path) -> list[str]:
    """Looks at a space, and returns what there is to read about it."""
    network = nas.load("quickstart", width=4)
    assert_type(network, nas.Network)
    size = nas.stats(network)
    assert_type(size.architectures, int)
    assert_type(size.architecture_parameters.smallest.cost, int)
    assert_type(nas.diff("quickstart", network).same, bool)
    drawn = nas.sample(network, 2, seed=1).drawn[0]
    assert_type(nas.derive(network, keep=drawn.switches).cost.parameters, int)
    picture = nas.draw(network, folder / "net.svg", keep=drawn.switches, theme="dark")
    assert_type(picture.svg, str)
    assert_type(picture.page("pdf"), bytes)
    assert_type(picture.figures(mono=True), dict[str, bytes])
    described = nas.describe("darts")
    assert_type([one.name for one in described.networks], list[str])
    available = [one.name for one in nas.data_list(folder / "data") if one.is_available]
    if "mnist" not in available:
        assert_type(nas.data_get("mnist", folder / "data", watch=lambda name, received, total: None), tuple[Path, ...])
    names = [one.name for one in nas.spaces()] + [one.signature for one in nas.ops("conv")]
    return [nas.fmt("quickstart"), nas.explain("NAS201"), described.doc, *names]


def tables(found: nas.SearchResult, trained: nas.TrainResult, smaller: nas.CompressResult) -> float:
    """Computes with the tables of runs."""
    assert_type([row["loss"] for row in found.metrics], list[float])
    assert_type([row["lambda"] for row in found.updates], list[float])
    assert_type({row["switch"]: row["gamma"] for row in found.switches}, dict[str, float | None])
    assert_type([row["off"] for row in found.finalists], list[tuple[str, ...]])
    assert_type([row["parameters"] for row in smaller.loops], list[int])
    epochs = [*trained.metrics, *smaller.metrics, *smaller.baseline]
    return max(row["test_accuracy"] for row in epochs)


def main(folder: Path) -> int:
    try:
        for diagnostic in nas.check("quickstart"):
            print(render(diagnostic))
        assert "choose 1 candidates(width)" in str(small)
        nas.load(text=str(small), name="small.nas", folder=folder, allow_python=True)
        nas.load(small, width=8, allow_python=True)
        losses = Losses()
        found = nas.search("quickstart", output=folder / "run", watch=(losses,), iterations=2, warmup=20, steps=20)
        assert_type(found.outcome.accuracy, float)
        assert_type(found.outcome.cost.parameters, int)
        architecture = nas.derive(found, keep_per_edge=1, width=16)
        assert_type(architecture, Architecture)
        assert_type(architecture.written.text, str)
        model = nas.export(nas.derive(found), folder / "net.py", weights=folder / "net.safetensors")
        assert_type(model.build(), nn.Module)
        assert_type(model.program.text, str)
        watch = (TrainWatcher(),)
        trained = nas.train(architecture, output=folder / "train", watch=watch, data="digits", epochs=1, cutout=0)
        assert_type(trained.outcome.score.accuracy, float)
        smaller = nas.compress(found, output=folder / "smaller", epochs=0, loops=1, fine_epochs=1, batch=32)
        assert_type(smaller.outcome.left.size.parameters, int)
        measured = nas.evaluate(smaller, runs=3)
        assert_type(measured.score.accuracy if measured.score else 0.0, float)
        swept = nas.sweep("quickstart", axes={"lambda": [0.5]}, output=folder / "sweep", iterations=1, steps=20)
        assert_type(swept.folder.path, Path)
        assert_type([run.test for run in nas.sweep_status(swept).runs], list[float | None])
        assert_type(nas.status(found).state, Literal["running", "stopped", "finished", "unfinished"])
        assert_type(nas.report([found, smaller], folder / "report.html").html(), str)
        nas.search(nas.load("quickstart", width=4), output=folder / "small", iterations=1, warmup=2, steps=2)
        print(tables(found, trained, smaller), *look(folder))
        images, labels = load("digits", folder / "data").train.take(torch.arange(4))
        assert_type(images, Tensor)
        assert_type(labels, Tensor)
    except nas.NasError as error:
        assert_type([diagnostic.code for diagnostic in error.diagnostics], list[str])
        print(*map(render, error.diagnostics), file=sys.stderr)
        return 1
    print(len(losses.losses), own_loop(4), len(own_data().train), len(stripes()[0]), Sharper().temperatures, Swap(2))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
