"""Times siblings on a device, fused and apart."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.ir import Graph
from bayesnas_graph.runtime import use_channels_last

WARM_UP = 3  # steps of each form before it is timed: libraries choose their kernels, memory is allocated
ROUNDS = 7
LEAST_ROUNDS = 3  # however long they take
LONG = 0.05  # seconds after which no further round is begun
SAMPLE = 0.0005  # seconds that a sample takes at least: short steps are repeated

_NAMES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}


class Times(NamedTuple):
    """Milliseconds of a step, forward and backward."""

    apart: float
    fused: float

    @property
    def is_faster_fused(self) -> bool:
        """The answer."""
        return self.fused < self.apart


@dataclass(frozen=True)
class Conditions:
    """How a run computes, as far as the time of an operation depends on it."""

    device: torch.device
    precision: torch.dtype
    channels_last: bool
    batch: int

    @property
    def about(self) -> dict[str, str]:
        """What times hold for; a file has the times of one device, torch and precision."""
        return {"device": _device_name(self.device), "torch": torch.__version__, "precision": _NAMES[self.precision]}

    def key(self, site: str) -> str:
        """The name of a site in a file of times."""
        return f"{self.batch} samples, {'channels last' if self.channels_last else 'channels first'}; {site}"

    def autocast(self) -> AbstractContextManager[object]:
        """Compute in the precision."""
        if self.precision == torch.float32:
            return nullcontext()
        return torch.autocast(self.device.type, self.precision)


def synchronise(device: torch.device) -> None:
    """Wait until a device has done everything that it was asked for."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def time_site(graph: Graph, conditions: Conditions) -> Times:
    """Time the graph of a site, fused and apart. Random numbers drawn later are the same as without it."""
    with _same_random_numbers(conditions.device):
        forms = [site_module(graph, conditions, fused=fused) for fused in (False, True)]
        (shape,) = (node.shape for node in graph if node.op.is_input)
        x = torch.randn(conditions.batch, *shape).to(conditions.device)
        if conditions.channels_last and x.ndim == 4:
            x = x.to(memory_format=torch.channels_last)
        apart, fused = time_alternately(forms, x.requires_grad_(), conditions)
    return Times(1e3 * median(apart), 1e3 * median(fused))


def site_module(graph: Graph, conditions: Conditions, *, fused: bool) -> nn.Module:
    """The network of a site, with its siblings fused or apart."""
    together = passes.fuse_siblings(graph, passes.Options(device="cuda")) if fused else graph
    module = build(emit(passes.lighten(together))).to(conditions.device)
    if conditions.channels_last:
        use_channels_last(module)
    return module


def time_alternately(
    forms: list[nn.Module], x: Tensor, conditions: Conditions, rounds: int = ROUNDS, at_least: int = LEAST_ROUNDS
) -> list[list[float]]:
    """Return the seconds per step of each module, a number for each round. They alternate, so that all slow down alike.

    A round is not begun if the rounds before it took long, but there are `at_least` so many.
    """
    for form in forms:
        _seconds(form, x, conditions, WARM_UP)
    shortest = min(_seconds(form, x, conditions, 1) for form in forms)
    repeats = max(1, round(SAMPLE / max(shortest, 1e-6)))
    found: list[list[float]] = [[] for _ in forms]
    start = perf_counter()
    for number in range(rounds):
        if number >= at_least and perf_counter() - start > LONG:
            break
        for times, form in zip(found, forms, strict=True):
            times.append(_seconds(form, x, conditions, repeats))
    return found


def _seconds(network: nn.Module, x: Tensor, conditions: Conditions, repeats: int) -> float:
    """Seconds per step."""
    synchronise(conditions.device)
    start = perf_counter()
    for _ in range(repeats):
        with conditions.autocast():
            result = network(x)
        outputs = list(result) if isinstance(result, tuple) else [result]
        for tensor in (x, *network.parameters()):
            tensor.grad = None
        torch.autograd.backward(outputs, [torch.ones_like(output) for output in outputs])
    synchronise(conditions.device)
    return (perf_counter() - start) / repeats


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    machine = platform.processor() or platform.machine()
    return f"{device.type} {machine}, {torch.get_num_threads()} threads"


@contextmanager
def _same_random_numbers(device: torch.device) -> Iterator[None]:
    """Restore the generators of the CPU and of this device."""
    own = {"cuda": torch.cuda, "mps": torch.mps}.get(device.type)
    state = own.get_rng_state() if own is not None else None
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            if own is not None and state is not None:
                own.set_rng_state(state)
