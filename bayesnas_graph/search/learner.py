"""A network being searched: its program, weights, switches and their prior.

A learner belongs to a graph. When switches are closed for good, a new one is made for the remaining graph, and takes
over everything learnt so far. Weights, gates and the optimizer's state change in every step; everything else is
replaced as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from bayesnas_graph import passes
from bayesnas_graph.bayes import State, Switches
from bayesnas_graph.codegen.emit import Emitted, transfer
from bayesnas_graph.codegen.supernet import DrawnNetwork, Opened, Supernet
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import cuts
from bayesnas_graph.runs.checkpoints import check_like
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device, program_for
from bayesnas_graph.runs.objectives import Objective, objective_of
from bayesnas_graph.runs.optimizer import Memory, memory_of, new_optimiser, remember
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runs.strategies import strategy_info
from bayesnas_graph.runtime.precision import gate_dtype
from bayesnas_graph.search.contests import Contests

Beliefs = dict[str, Tensor]  # learnt by a strategy: by name, a number for every group


@dataclass(frozen=True, eq=False)
class SearchLearner:
    """Everything that is learnt, and the state needed to continue."""

    config: SearchConfig
    device: Device
    supernet: Supernet
    options: passes.Options  # that the supernet was compiled with
    network: nn.Module  # the module to call in training, perhaps wrapped
    drawn: DrawnNetwork | None  # the module to call if only what is drawn is computed
    switches: Switches
    contests: Contests  # between switches
    contests_on_cpu: Contests
    group_on_cpu: Tensor  # the group of every gate
    optimiser: torch.optim.Optimizer
    scaler: GradientScaler
    prior: State
    units: Tensor  # of the gates: the prior is on `w r`. All are 1 until they are measured
    beliefs: Beliefs = field(default_factory=dict)  # of other strategies; they change in every step, as weights do
    best: dict[str, Tensor] = field(default_factory=dict)  # the weights of the best finalist so far

    @property
    def objective(self) -> Objective:
        """What the network is trained for."""
        return objective_of(self.graph)

    @property
    def module(self) -> nn.Module:
        """The module of the supernet."""
        return self.supernet.module

    @property
    def called(self) -> nn.Module:
        """The module to call within `computing`, when gradients are not to be averaged over processes."""
        return self.supernet.module if self.drawn is None else self.drawn

    def computing(self, opened: Opened | None) -> AbstractContextManager[None]:
        """Compute only what these gates let through, within this block, if this learner can."""
        return nullcontext() if self.drawn is None else self.drawn.only(opened)

    @property
    def graph(self) -> Graph:
        """The graph without closed switches."""
        return self.supernet.graph

    def with_prior(self, prior: State, units: Tensor) -> SearchLearner:
        """Return the learner with an updated prior."""
        return replace(self, prior=prior, units=units)

    def lambda_w(self, intensities: tuple[float, float]) -> Tensor:
        """Return the intensity of the penalty for every group."""
        return self.switches.by_kind(*intensities)

    def memory(self) -> Memory:
        """Return the optimizer's state."""
        return memory_of(self.optimiser, weights(self.supernet))

    def remember(self, memory: Memory) -> None:
        """Restore the optimizer's state."""
        remember(self.optimiser, weights(self.supernet), memory)


def new_learner(graph: Graph, config: SearchConfig, device: Device) -> SearchLearner:
    """Return a new learner, with random weights, and gates and prior at 1."""
    options = options_for(graph, config, device)
    supernet = Supernet.with_options(graph, options, fuse=config.fuse).to(device.torch_device)
    drawn = DrawnNetwork(supernet) if draws(graph, config) and not device.compile else None
    network = device.prepared(supernet.module, drawn)
    on_cpu = Switches.of(graph)
    switches = on_cpu.to(device.torch_device)
    contests = Contests.of(graph, switches.groups)
    trained = [parameter for _, parameter in weights(supernet)]
    return SearchLearner(
        config=config,
        device=device,
        supernet=supernet,
        options=options,
        network=network,
        drawn=drawn,
        switches=switches,
        contests=contests.to(device.torch_device),
        contests_on_cpu=contests,
        group_on_cpu=on_cpu.group,
        optimiser=new_optimiser(config, trained, fused=device.fused_optimiser),
        scaler=device.scaler(),
        prior=State.start(switches),
        units=torch.ones(len(switches.gates), dtype=gate_dtype(device.torch_device), device=device.torch_device),
    )


def draws(graph: Graph, config: SearchConfig) -> bool:
    """Return whether the strategy of the settings trains networks that are drawn from a graph."""
    return bool(graph.gates) and strategy_info(config.strategy).draws


def options_for(graph: Graph, config: SearchConfig, device: Device) -> passes.Options:
    """Return the options to compile a graph with. Candidates that are left out, if not drawn, are computed apart."""
    return device.options(graph, config, apart=draws(graph, config))


def without(learner: SearchLearner, off: Iterable[str]) -> SearchLearner:
    """Return the learner for the graph without some switches, with everything learnt so far."""
    graph = passes.prune(learner.graph, frozenset(off))
    found = new_learner(graph, learner.config, learner.device)
    old, new, narrower = learner.supernet.program, found.supernet.program, cuts(learner.graph, graph)
    found.supernet.module.load_state_dict(transfer(learner.supernet.module.state_dict(), old, new, narrower))
    found.remember({kind: transfer(values, old, new, narrower) for kind, values in learner.memory().items()})
    found.scaler.load_state_dict(learner.scaler.state_dict())
    groups = positions(learner.switches.groups, found.switches.groups)
    gates = positions(learner.supernet.names, found.supernet.names).to(learner.units.device)
    beliefs = {name: values[groups.to(values.device)] for name, values in learner.beliefs.items()}
    return replace(found.with_prior(selected(learner.prior, groups), learner.units[gates]), beliefs=beliefs)


def add_weights(learner: SearchLearner, state: Mapping[str, Tensor], graph: Graph) -> None:
    """Load the weights of a network that was compiled from another graph with the same nodes; the gates stay."""
    program = program_for(graph, learner.config, options_for(graph, learner.config, learner.device))
    known = transfer(state, program, learner.supernet.program)
    learner.supernet.module.load_state_dict({**learner.supernet.module.state_dict(), **known})


def take_weights(learner: SearchLearner, state: Mapping[str, Tensor], program: Emitted | None = None) -> None:
    """Load weights and gates, of the same program or of another one of the same graph."""
    own = learner.supernet.program
    taken = dict(state) if program is None or program == own else transfer(state, program, own)
    check_like(taken, learner.supernet.module.state_dict())
    learner.supernet.module.load_state_dict(taken)


def weights(supernet: Supernet) -> list[tuple[str, nn.Parameter]]:
    """Return the parameters that are not gates, by name."""
    gates = set(supernet.gate_parameters())
    return [(name, parameter) for name, parameter in supernet.module.named_parameters() if parameter not in gates]


def positions(names: Sequence[str], wanted: Sequence[str]) -> Tensor:
    """Return where some names are among others."""
    number = {name: i for i, name in enumerate(names)}
    return torch.tensor([number[name] for name in wanted], dtype=torch.long)


def selected(prior: State, groups: Tensor) -> State:
    """Return the prior of some groups."""
    none = groups.new_zeros(0)
    index = groups.to(prior.gamma.device)
    return State(prior.gamma[index], prior.omega[index], prior.s[index], none, none, none)
