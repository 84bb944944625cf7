"""A compression run: dense training, loops under the penalty, and fine-tuning of the smaller network.

Each stage is a training with its own checkpoints, and writes its weights to a file. The existing files determine the
next stage, so a run can be interrupted anywhere and resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torch import Tensor

from bayesnas_graph.codegen.emit import Emitted, as_state, build, by_node, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.export.describe import docs_of
from bayesnas_graph.codegen.export.weights import read_weights, take_weights, write_weights
from bayesnas_graph.data import Data, evaluation, shuffled, split
from bayesnas_graph.derive.text import Written, written
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.shrink import Shrunk, shrink
from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.objectives import Objective, objective_of
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.train.checkpoint import TrainCheckpoints
from bayesnas_graph.train.compress.events import CompressWatcher, LoopRow, Stage, StageName
from bayesnas_graph.train.compress.groups import Groups, groups_of, regrouped
from bayesnas_graph.train.compress.magnitude import pruned_by_magnitude
from bayesnas_graph.train.compress.masks import Masks, alive, masked
from bayesnas_graph.train.compress.measure import measured, penalty, pruning_after_loop
from bayesnas_graph.train.compress.penalty import Held
from bayesnas_graph.train.compress.report import widths
from bayesnas_graph.train.compress.selection import Size, SizeTarget
from bayesnas_graph.train.loop import AfterStep, Training, nothing
from bayesnas_graph.train.measure import Score, score
from bayesnas_graph.train.problem import TrainingProblem

# By Bayes' rule, lambda is one over the number of samples, which is too much for small networks.
TEMPERED = 0.1


@dataclass(frozen=True, eq=False)
class Smaller:
    """A smaller network as text, with its weights and scores."""

    shrunk: Shrunk
    text: Written
    weights: ByNode  # of the nodes of the text
    before: Score  # on the test set, before fine-tuning
    score: Score  # after fine-tuning


@dataclass(frozen=True, eq=False)
class CompressionProblem:
    """The problem of a compression run: a network, on some data, under some settings. Nothing in it changes."""

    subject: Subject
    config: CompressConfig
    data: Data
    device: Device

    @cached_property
    def graph(self) -> Graph:
        """The whole network."""
        return self.subject.network.graph()

    @property
    def objective(self) -> Objective:
        """What the network is trained for."""
        return objective_of(self.graph)

    @cached_property
    def groups(self) -> tuple[Groups, ...]:
        """All groups of weights. Raises NasError for unknown patterns, or if there are no groups."""
        groups = groups_of(self.graph, self.config.patterns)
        if not groups:
            message = f"nothing to remove from network `{self.subject.network.name}`"
            help = (
                "define which weights are removed together: `--pattern conv=filter,channel --pattern linear=row,column`"
            )
            raise NasError([Diagnostic("NAS620", message, help=help)])
        return groups

    @cached_property
    def held_out(self) -> tuple[Tensor, Tensor]:
        """The samples to train on, and those on which curvature is measured."""
        return split(len(self.data.train), self.config.held_out, self.config.seed)

    @property
    def intensity(self) -> float:
        """The intensity of the penalty in the first loop."""
        return self.config.lambda_w or TEMPERED / len(self.held_out[0])

    def doc(self, graph: Graph) -> str:
        """Return a few lines on the origin of a smaller network."""
        size, config = Size.of(graph), self.config
        return "\n".join(
            [
                f"Network `{self.subject.network.name}` of {self.subject.name}, compressed:",
                f"{widths(graph)}.",
                "",
                f"{size.parameters:,} weights, {size.flops_text} multiply-adds.",
                f"Fingerprint of the whole network: {self.subject.fingerprint[:16]}.",
                f"On {config.data or ''} with seed {config.seed}, lambda {self.intensity:.3g}.",
            ]
        )

    def check(self) -> None:
        """Check everything that can be checked before the start. Raises NasError."""
        for config in (self.config.dense, self.config.loop(1)):
            TrainingProblem.of(self.subject.network, self.data, config, self.held_out[0])
        if len(self.held_out[1]) < self.device.processes.world:
            message = f"only {len(self.held_out[1])} of {len(self.data.train)} samples are held out"
            raise NasError([Diagnostic("NAS601", message, help="increase `held_out`")])
        _ = self.groups

    @property
    def target(self) -> SizeTarget:
        """The size to reach."""
        return SizeTarget(self.config.target_operations, self.config.target_params)

    def held_out_batches(self, graph: Graph, occasion: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Return held-out samples to measure on, different for every measurement."""
        config = self.config
        problem = TrainingProblem(config.dense, graph, self.data)
        chosen = shuffled(self.held_out[1], config.seed, occasion)[: config.curvature_batches * config.batch]
        return evaluation(self.data.train, chosen, problem.loading(self.device))


@dataclass
class CompressWork:
    """A compression run in progress."""

    problem: CompressionProblem
    folder: RunFolder
    device: Device
    watcher: CompressWatcher
    stop: Callable[[], bool] = lambda: False

    @property
    def config(self) -> CompressConfig:
        """The settings."""
        return self.problem.config

    def dense(self) -> tuple[ByNode, Score]:
        """Run the first stage: train the whole network."""
        problem = TrainingProblem.of(
            self.problem.subject.network, self.problem.data, self.config.dense, self.problem.held_out[0]
        )
        weights = self._given()
        if self.config.epochs:
            weights = self._stage(Stage("dense", problem), weights)
        elif weights is None:
            weights = self._once("dense", self.problem.graph, self._random)
        return weights, self._score(self.problem.graph, weights)

    def loops(self, weights: ByNode) -> Shrunk:
        """Run the second stage: remove groups and shrink the network, loop by loop."""
        shrunk = Shrunk(self.problem.graph, weights, {})
        for number in range(1, self.config.loops + 1):
            if self.problem.target.is_met(Size.of(shrunk.graph)):
                break
            shrunk = self._loop(shrunk, number)
        return shrunk

    def _loop(self, shrunk: Shrunk, number: int) -> Shrunk:
        """Train under the penalty, and prune."""
        config, graph = self.config, shrunk.graph
        intensity = self.problem.intensity * config.lambda_growth ** (number - 1)
        groups = regrouped(self.problem.groups, graph)

        def train() -> ByNode:
            problem = TrainingProblem(config.loop(number), graph, self.problem.data, self.problem.held_out[0])
            epochs = config.epochs + (number - 1) * config.loop_epochs
            stage = Stage("loops", problem, number, epochs, epochs * problem.steps_per_epoch)
            measurement = measured(
                graph, shrunk.tensors, self.problem.held_out_batches(graph, 2 * number - 1), self.device
            )
            trained = self._training(
                stage, shrunk.tensors, penalty(graph, shrunk.tensors, groups, measurement, intensity)
            )
            return self._removed(graph, trained, groups, number, intensity)

        return shrink(graph, self._once(f"loop-{number:02}", graph, train))

    def _removed(
        self, graph: Graph, weights: ByNode, groups: tuple[Groups, ...], number: int, intensity: float
    ) -> ByNode:
        """Return the weights with zeros for removed groups."""
        start = time.perf_counter()
        measurement = measured(graph, weights, self.problem.held_out_batches(graph, 2 * number), self.device)
        pruning = pruning_after_loop(graph, weights, groups, measurement, self.config, intensity)
        count = sum(int(alive(some, pruning.masks).sum()) for some in groups)
        seconds = time.perf_counter() - start
        self.watcher.loop_ended(LoopRow(number, intensity, measurement.loss, count, pruning.size, seconds))
        return masked(weights, pruning.masks)

    def fine(self, shrunk: Shrunk) -> Smaller:
        """Run the third stage: fine-tune the smaller network, on all samples."""
        before = self.config.epochs + self.loops_done * self.config.loop_epochs
        return self._trained("fine", shrunk, self.config.fine_epochs, before)

    def baseline(self, weights: ByNode, shrunk: Shrunk) -> Smaller:
        """Prune the same weights by magnitude to the same size, and train the result equally long."""
        target = SizeTarget(Size.of(shrunk.graph).operations)
        pruned = pruned_by_magnitude(self.problem.graph, weights, self.problem.groups, target).shrunk
        return self._trained("rival", pruned, self.loops_done * self.config.loop_epochs + self.config.fine_epochs)

    @property
    def loops_done(self) -> int:
        """The number of finished loops."""
        return self.device.processes.broadcast(len(list(self.folder.stage("x").parent.glob("loop-*.safetensors"))))

    def _trained(self, name: StageName, shrunk: Shrunk, epochs: int, epochs_before: int = 0) -> Smaller:
        docs, allow_python = docs_of(self.problem.subject.network), self.problem.subject.python_ops
        text = written(shrunk.graph, self.problem.doc(shrunk.graph), {}, docs=docs, allow_python=allow_python)
        weights: ByNode = {text.names[node]: tensors for node, tensors in shrunk.tensors.items() if node in text.names}
        before = self._score(text.graph, weights)
        if epochs:
            problem = TrainingProblem(self.config.fine(epochs), text.graph, self.problem.data)
            steps_before = epochs_before * (len(self.problem.held_out[0]) // self.config.batch)
            stage = Stage(name, problem, 0, epochs_before, steps_before)
            weights = self._stage(stage, weights, Held(_zeros(weights)))
        return Smaller(shrunk, text, weights, before, self._score(text.graph, weights))

    def _stage(self, stage: Stage, start: ByNode | None, after_step: AfterStep = nothing) -> ByNode:
        """Return the weights after a training stage, from its file if it has already finished."""
        return self._once(stage.name, stage.problem.graph, lambda: self._training(stage, start, after_step))

    def _training(self, stage: Stage, start: ByNode | None, after_step: AfterStep) -> ByNode:
        name = f"{stage.name}-{stage.number:02}" if stage.number else stage.name
        self.folder.make(self.folder.checkpoints)
        checkpoints = TrainCheckpoints(
            self.folder.checkpoints / name, self.config.keep, f"{self.problem.subject.fingerprint}/{name}"
        )
        self.watcher.stage_started(stage)
        outcome = Training(
            stage.problem,
            self.device,
            checkpoints,
            self.watcher,
            self.stop,
            start_weights=start,
            after_step=after_step,
        ).run()
        return by_node(outcome.weights, outcome.program)

    def _once(self, name: str, graph: Graph, work: Callable[[], ByNode]) -> ByNode:
        """Return the weights that some work produces, from a file if it was already done."""
        path, program = self.folder.stage(name), emit(graph, standalone=True)
        if not self._is_done(path, program):
            weights = work()
            if self.device.processes.first:
                self.folder.make(path.parent)
                write_weights(path, as_state(weights, {}, program), self.problem.subject.fingerprint)
            self.device.processes.any(False)  # wait until it is written
        return self._read(path, program)

    def _is_done(self, path: Path, program: Emitted) -> bool:
        """Return whether some work was done and its file is intact. All processes agree."""
        processes, problem = self.device.processes, ""
        if not processes.broadcast(path.is_file()):
            return False
        try:
            self._read(path, program)
        except NasError as error:
            problem = error.diagnostics[0].message
        problem = next(filter(None, processes.gather(problem)), "")
        if problem:
            self.watcher.noted(f"{problem}; it is written again from the checkpoints of its stage")
        return not problem

    def _given(self) -> ByNode | None:
        """Return the weights that the run started with. Raises NasError if they are damaged."""
        path = self.folder.stage("given")
        return self._read(path, emit(self.problem.graph, standalone=True)) if path.is_file() else None

    def _read(self, path: Path, program: Emitted) -> ByNode:
        """Read the weights of a program. Raises NasError if they are damaged or do not fit."""
        module = build(program)
        take_weights(module, read_weights(path), path, self.problem.subject.network.name)
        return self._on_device(by_node(module.state_dict(), program))

    def _random(self) -> ByNode:
        seed_everything(self.config.seed, "weights")
        program = emit(self.problem.graph, standalone=True)
        return by_node(build(program).state_dict(), program)

    def _on_device(self, weights: ByNode) -> ByNode:
        return {
            node: {name: value.to(self.device.torch_device) for name, value in named.items()}
            for node, named in weights.items()
        }

    def _score(self, graph: Graph, weights: ByNode) -> Score:
        program: Emitted = emit(graph, standalone=True)
        module = build(program)
        module.load_state_dict(as_state(weights, {}, program))
        module.to(self.device.torch_device)
        problem = TrainingProblem(self.config.dense, graph, self.problem.data)
        return score(module, problem.test_batches(self.device), self.device, problem.objective)


def _zeros(weights: ByNode) -> Masks:
    """Return masks of the zero weights inside kernels."""
    return {
        node: {"weight": (named["weight"] != 0).to(named["weight"].dtype)}
        for node, named in weights.items()
        if "weight" in named and named["weight"].ndim > 1 and not bool(named["weight"].all())
    }
