"""A network being trained: its program, its weights, and their running mean.

The program includes parts that are used in training only. Checkpoints name weights as the unfused program of the
same graph does, independently of the device; exported weights have the names of the network itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, as_state, emit, transfer
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.codegen.supernet import build_fused
from bayesnas_graph.runs.checkpoints import check_like
from bayesnas_graph.runs.device import Device, program_for
from bayesnas_graph.runs.optimizer import Memory, memory_of, new_optimiser, remember
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.train.problem import TrainingProblem

State = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class TrainLearner:
    """Everything that is learnt, and the state needed to continue. Its tensors change in every step."""

    problem: TrainingProblem
    device: Device
    program: Emitted  # perhaps fused
    plain: Emitted  # the same graph without fusion
    module: nn.Module
    network: nn.Module  # the module to call in training, perhaps wrapped
    optimiser: torch.optim.Optimizer
    scaler: GradientScaler
    mean: State | None  # of the weights over the last steps, if requested

    def final(self) -> State:
        """Return the final weights: their running mean, if there is one."""
        return self.module.state_dict() if self.mean is None else self.mean

    def weights_for(self, network: Emitted) -> State:
        """Return the final weights under the names of another program of the network."""
        weights = transfer(self.final(), self.program, network)
        return {name: value.detach().contiguous() for name, value in weights.items()}

    def to_plain(self) -> dict[str, object]:
        """Return tensors, dictionaries, lists, strings and numbers, independent of the device."""
        memory = memory_of(self.optimiser, self.module.named_parameters())
        return {
            "weights": transfer(self.module.state_dict(), self.program, self.plain),
            "mean": None if self.mean is None else transfer(self.mean, self.program, self.plain),
            "memory": {kind: transfer(values, self.program, self.plain) for kind, values in memory.items()},
            "scaler": self.scaler.state_dict(),
        }

    def take(self, weights: State, mean: State | None, memory: Memory, scaler: Mapping[str, float]) -> None:
        """Restore the state from `to_plain`, possibly from another device."""
        taken = transfer(weights, self.plain, self.program)
        check_like(taken, self.module.state_dict())
        self.module.load_state_dict(taken)
        if self.mean is not None:
            saved = transfer(mean or {}, self.plain, self.program)
            check_like(saved, self.mean)
            for name, value in self.mean.items():
                value.copy_(saved[name])
        moved = {kind: transfer(values, self.plain, self.program) for kind, values in memory.items()}
        remember(self.optimiser, self.module.named_parameters(), moved)
        self.scaler.load_state_dict(dict(scaler))


def new_learner(problem: TrainingProblem, device: Device, start: ByNode | None = None) -> TrainLearner:
    """Return a new learner, with random weights or with the given weights of nodes."""
    config, graph = problem.config, problem.trained_graph
    options = device.options(graph, config)
    program = program_for(graph, config, options)
    module = build_fused(graph, program, options)
    if start is not None:
        module.load_state_dict(module.state_dict() | as_state(start, {}, program))
    if device.compile:
        compile_motifs(module)
    network = device.prepared(module)
    state = module.state_dict()
    return TrainLearner(
        problem=problem,
        device=device,
        program=program,
        plain=emit(graph),
        module=module,
        network=network,
        optimiser=new_optimiser(config, list(module.parameters()), fused=device.fused_optimiser),
        scaler=device.scaler(),
        mean={name: value.detach().clone() for name, value in state.items()} if config.ema else None,
    )


@torch.no_grad()
def follow(mean: State, state: Mapping[str, Tensor], decay: float, steps: int) -> None:
    """Update a running mean with the state after this many steps.

    It is the mean of the states after all steps, where each weighs `decay` times as much as the next one. The state
    before the first step is not included, so that a mean of few steps does not contain random weights.
    """
    share = (1 - decay) / (1 - decay**steps)
    for name, value in mean.items():
        if value.is_floating_point():
            value.lerp_(state[name], share)
        else:
            value.copy_(state[name])


def compile_motifs(network: nn.Module, backend: str = "inductor") -> nn.Module:
    """Compile the innermost motifs of a network with torch.compile; return the network.

    There are few kinds, each used many times, and torch compiles a kind once per shape. Motifs with dropped paths are
    excluded: the probability changes in every step, and they would be compiled again.
    """
    for module in network.modules():
        ours = type(module).__module__ == type(network).__module__
        innermost = all(type(child).__module__ != type(network).__module__ for child in module.children())
        if ours and innermost and "dropped" not in type(module).forward.__code__.co_names:
            module.compile(dynamic=False, backend=backend)
    return network
