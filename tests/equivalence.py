"""Compare two graphs: with equal weights, equal outputs and gradients in float64."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import PRIMITIVES, Input
from bayesnas_graph.ir.ops.python import PythonOp


def assert_same_function(before: Graph, after: Graph) -> None:
    """In training and in evaluation mode. `after` may only have additional zero gates."""
    torch.manual_seed(0)
    one, two = ReferenceNetwork(before).double(), ReferenceNetwork(after).double()
    shapes = [node.shape for node in before if isinstance(node.op, Input)]
    inputs = [torch.randn(3, *shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    with torch.no_grad():
        for gate in one.gates.values():
            gate.uniform_(0.5, 1.5)
    random = any(isinstance(node.op, PRIMITIVES["dropout"] | PythonOp) for node in before)
    if not random and _trainable(before):
        one(*inputs)  # so that norms have seen something
    _give(one, two, before, after)
    modes = (False,) if random or not _trainable(before) else (True, False)
    for training in modes:
        results = [_run(net.train(training), graph, inputs) for net, graph in ((one, before), (two, after))]
        for name in results[1].keys() & results[0].keys():
            assert_close(results[0][name], results[1][name], f"{name}, training: {training}")
        extra = results[1].keys() - results[0].keys()
        assert all(name.endswith("gradient") and ".zero" in name for name in extra), extra
        assert results[0].keys() <= results[1].keys()


def assert_close(one: Tensor, two: Tensor, message: str) -> None:
    """`torch.testing.assert_close` in float64, asked only where a cheaper comparison to its bounds fails."""
    if one.dtype != two.dtype or one.shape != two.shape or not torch.allclose(one, two, rtol=1e-7, atol=1e-7):
        torch.testing.assert_close(one, two, msg=message)


def _trainable(graph: Graph) -> bool:
    """Whether the batch norms have enough values per channel: with two, the result is only a sign."""
    norms = [node for node in graph if node.op.label == "bn"]
    return all(len(node.shape) == 3 and node.shape[1] * node.shape[2] > 1 for node in norms)


def _give(one: ReferenceNetwork, two: ReferenceNetwork, before: Graph, after: Graph) -> None:
    """Copy the weights of `one` to `two`, part by part."""
    with torch.no_grad():
        for node in after:
            module = two.module(node.name)
            if module is not None:
                states = [_module(one, part[0]).state_dict() for part in node.stands_for]
                module.load_state_dict({name: _joined([s[name] for s in states]) for name in states[0]})
        for name, gate in two.gates.items():
            if name in one.gates:
                gate.copy_(one.gates[name])


def _module(net: ReferenceNetwork, node: str) -> nn.Module:
    module = net.module(node)
    assert module is not None
    return module


def _joined(values: list[Tensor]) -> Tensor:
    return values[0] if values[0].ndim == 0 else torch.cat(values)


def _run(net: ReferenceNetwork, graph: Graph, inputs: list[Tensor]) -> dict[str, Tensor]:
    """Everything comparable, by its origin in the elaborated graph."""
    net.zero_grad()
    for x in inputs:
        x.grad = None
    outputs = net(*inputs)
    loss = sum((y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)).sum() for y in outputs)
    torch.autograd.backward([torch.as_tensor(loss)])
    found = {f"output {i}": y.detach() for i, y in enumerate(outputs)}
    found |= {f"input {i} gradient": torch.zeros_like(x) if x.grad is None else x.grad for i, x in enumerate(inputs)}
    for node in graph:
        module, count = net.module(node.name), len(node.stands_for)
        for index, names in enumerate(node.stands_for):
            if module is None:
                break
            for name, value in module.named_parameters():
                gradient = torch.zeros_like(value) if value.grad is None else value.grad
                found |= {f"{logical}.{name} gradient": gradient.chunk(count)[index] for logical in names}
            for name, buffer in module.named_buffers():
                if not name.startswith("running"):  # light norms do not count batches, and have constants of their own
                    continue
                part = buffer if buffer.ndim == 0 else buffer.chunk(count)[index]
                found |= {f"{logical}.{name}": part.clone() for logical in names}
    for name, gate in net.gates.items():
        found[f"{name.replace('/', '.')} gradient"] = torch.zeros(()) if gate.grad is None else gate.grad.clone()
    return found
