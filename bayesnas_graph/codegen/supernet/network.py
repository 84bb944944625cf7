"""A search space as a network that can be trained, with access to its gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import Emitted, build_for_weights, emit
from bayesnas_graph.codegen.supernet.moments import Moments
from bayesnas_graph.codegen.supernet.reference import ReferenceNetwork
from bayesnas_graph.codegen.supernet.rest import at_rest
from bayesnas_graph.codegen.supernet.start import build_fused
from bayesnas_graph.ir import Graph
from bayesnas_graph.runtime import Watch
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.runtime.uncompiled import uncompiled


class Supernet(nn.Module):
    """A graph with gates, the program it was compiled to, and the module of the program.

    It is a torch module like any other: it can be called, moved, saved, copied and pickled. Gates are identified by
    their names, in the order of the graph, whatever tensors hold them. These tensors are parameters, not buffers,
    because gates have gradients; `weight_parameters` are all others, for an optimizer.
    """

    graph: Graph  # as searched: nothing merged or fused
    program: Emitted
    module: nn.Module
    compiled: Graph  # what the program computes: the graph after all passes
    options: passes.Options  # that it was compiled with
    fuse: bool  # whether passes merged and fused operations
    order: Tensor  # the position of each gate in the concatenation of all tensors of gates

    def __init__(
        self, graph: Graph, program: Emitted, module: nn.Module, compiled: Graph, options: passes.Options, fuse: bool
    ) -> None:
        super().__init__()
        self.graph, self.program, self.module, self.compiled = graph, program, module, compiled
        self.options, self.fuse = options, fuse
        places = torch.tensor(_order(graph, program, module), dtype=torch.long)
        self.register_buffer("order", places, persistent=False)  # follows from the program, so it is not saved

    @staticmethod
    def of(graph: Graph, device: passes.DeviceKind = "cpu", batch: int = 64, *, fuse: bool = True) -> Supernet:
        """Compile a graph that has its zero switches."""
        return Supernet.with_options(graph, passes.Options(device=device, batch=batch), fuse=fuse)

    @staticmethod
    def with_options(graph: Graph, options: passes.Options, *, fuse: bool = True) -> Supernet:
        """Compile a graph that has its zero switches with these options."""
        compiled = passes.run(graph, passes.FASTER if fuse else (), options)
        program = emit(compiled)
        return Supernet(graph, program, build_fused(graph, program, options), compiled, options, fuse)

    def forward(self, *inputs: Tensor) -> Any:
        """The output of the network, or its outputs."""
        return self.module(*inputs)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the gates."""
        return _names(self.graph)

    def gate_parameters(self) -> tuple[nn.Parameter, ...]:
        """The tensors that hold the gates."""
        return tuple(self.module.get_parameter(path) for path in self.gate_paths)

    def weight_parameters(self) -> tuple[nn.Parameter, ...]:
        """All parameters that are not gates."""
        gates = set(self.gate_parameters())
        return tuple(parameter for parameter in self.module.parameters() if parameter not in gates)

    @property
    def gates(self) -> Tensor:
        """The values of all gates."""
        return self.in_order([parameter.detach() for parameter in self.gate_parameters()])

    def set_gates(self, values: Tensor) -> None:
        """Set the value of every gate."""
        ordered = torch.empty_like(values)
        ordered[self.order.to(values.device)] = values
        with torch.no_grad():
            start = 0
            for parameter in self.gate_parameters():
                parameter.copy_(ordered[start : start + len(parameter)])
                start += len(parameter)

    def in_order(self, parts: list[Tensor]) -> Tensor:
        """Values for the tensors of gates, along their last axis, in the order of the gates."""
        parts = parts or [torch.zeros(0, device=self.order.device)]  # if there are no switches
        together = torch.cat(parts, -1)
        return together[..., self.order.to(together.device)]

    def slopes(self, watch: Watch) -> Tensor:
        """The derivatives with respect to all gates, one row per sample. This clears them from the watch."""
        parts = {parameter: watch.slopes(parameter) for parameter in self.gate_parameters()}
        rows = max((len(part) for part in parts.values() if part is not None), default=0)
        watch.forget_slopes()
        return self.in_order([p.new_zeros(rows, len(p)) if part is None else part for p, part in parts.items()])

    def moments(self, watch: Watch) -> Moments:
        """The moments of the inputs of all gates; zeros for gates that were not used."""
        parts = {parameter: watch.powers(parameter) for parameter in self.gate_parameters()}
        squares = self.in_order([torch.zeros_like(p) if part is None else part for p, part in parts.items()])
        means = [mean for parameter in self.gate_parameters() for mean in watch.means(parameter)]
        return Moments(precise(squares), tuple(precise(means[i]) for i in self.order.tolist()))

    @contextmanager
    def measuring(self) -> Iterator[nn.Module]:
        """The module in evaluation mode: samples do not affect each other, and nothing is updated."""
        with at_rest(self.module), uncompiled():
            yield self.module

    def reference(self, graph: Graph | None = None) -> ReferenceNetwork:
        """The reference network of this graph, or of another graph of the space, with the current weights."""
        like = next(self.module.parameters())
        network = ReferenceNetwork(self.graph if graph is None else graph).to(like.device, like.dtype)
        return network.load(self.module.state_dict(), self.program)

    def __repr__(self) -> str:
        return f"<supernet {self.graph.name}: {len(self.graph):,} nodes, {len(self.names):,} gates>"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        return self.graph._repr_svg_()

    @cached_property
    def gate_paths(self) -> tuple[str, ...]:
        """Where the tensors of gates are in the module."""
        return _paths(self.program, self.names)

    def __deepcopy__(self, memo: dict[int, Any]) -> Supernet:
        """A copy with weights and gates of its own. Graphs and programs never change, so they are shared."""
        memo |= {id(shared): shared for shared in (self.graph, self.program, self.compiled)}
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __reduce__(self) -> tuple[Callable[..., Supernet], tuple[Any, ...]]:
        """How to pickle it: the classes of a program belong to no file, so they are made again from its source."""
        modes = {name: module.training for name, module in self.named_modules()}
        trained = {name: parameter.requires_grad for name, parameter in self.named_parameters()}
        compiled = self.graph, self.program, self.compiled, self.options, self.fuse
        return _restored, (*compiled, self.state_dict(), modes, trained)


def _restored(
    graph: Graph,
    program: Emitted,
    compiled: Graph,
    options: passes.Options,
    fuse: bool,
    state: Mapping[str, Tensor],
    modes: Mapping[str, bool],
    trained: Mapping[str, bool],
) -> Supernet:
    """A supernet that was pickled."""
    net = Supernet(graph, program, build_for_weights(program), compiled, options, fuse)
    device = next(iter(state.values())).device if state else "cpu"
    net.to(device).load_state_dict(state, assign=True)
    for name, module in net.named_modules():
        module.training = modes[name]
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(trained[name])
    return net


def _names(graph: Graph) -> tuple[str, ...]:
    return tuple(dict.fromkeys(gate.name for gate in graph.gates))


def _paths(program: Emitted, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(program.gates[name].path for name in names))


def _order(graph: Graph, program: Emitted, module: nn.Module) -> list[int]:
    """The position of each gate in the concatenation of all tensors of gates."""
    names = _names(graph)
    starts: dict[str, int] = {}
    total = 0
    for path in _paths(program, names):
        starts[path] = total
        total += len(module.get_parameter(path))
    slots = [program.gates[name] for name in names]
    return [starts[slot.path] + slot.index for slot in slots]
