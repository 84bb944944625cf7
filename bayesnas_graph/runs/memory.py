"""Whether a network can be trained in the memory of a device, and in how many parts per batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit.memory import check_memory
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.memory import available_memory, memory_text, parse_memory
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.passes.analysis import StepMemory, cost, step_memory
from bayesnas_graph.runs.config.groups import DataSettings, WeightSettings
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.strategies import strategy_info

MARGIN = 1.1  # of what is available, a step may need as much less than that: the estimate is not exact
MOST_PARTS = 10_000  # of a batch
SURE = 4  # times the activations of all operations are more than any network stores

C = TypeVar("C", bound=DataSettings)


def check_training_memory(network: Network, config: WeightSettings, device: Device) -> None:
    """Raise NasError if weights, gradients and the state of the optimiser cannot fit into memory."""
    check_memory(network.graph(), 2 + _state(config), _on_gpu(device))


def divided(network: Network, config: C, device: Device) -> tuple[C, tuple[str, ...]]:
    """Return the settings with a batch in as few parts as fit into memory, and a line that says so.

    Raises NasError if not even a single sample fits, or if there is nothing to recompute.
    """
    _check_recompute(network, device)
    limit = _limit(config, device)
    share = config.batch // device.processes.world
    parts = [part for part in range(config.accumulate, min(share, MOST_PARTS) + 1) if share % part == 0]
    if not parts or _computes_a_part(config, device):
        return config, ()
    if not device.processes.any(not limit.surely_fits(network, config, share // parts[0])):
        return config, ()
    memory, state = _step(network, config, device), _state(config)
    need = [memory.training(share, state, part) for part in parts]
    fitting = (i for i in range(len(parts)) if not device.processes.any(not limit.fits(need[i])))
    found = next(fitting, None)
    if found is None:
        if parts[-1] < share:  # far too many samples: `check_step` reports it, unless there is something else to say
            return config, ()
        message = limit.text(f"training network `{network.name}` on a single sample", need[-1])
        raise NasError([Diagnostic("NAS407", message, help="make the network or its images smaller")])
    if not found:
        return config, ()
    note = f"a batch of {config.batch} needs {memory_text(need[0])}: computed in {parts[found]} parts"
    if any(node.op.uses_batch_statistics for node in network.graph()):
        note += ", each with its own batch-norm statistics"
    return config.model_copy(update={"accumulate": parts[found]}), (note,)


def check_step(network: Network, config: DataSettings, device: Device) -> None:
    """Raise NasError if a step, in the parts of the settings, cannot fit into memory."""
    limit, samples = _limit(config, device), device.samples(config)
    if _computes_a_part(config, device) or limit.surely_fits(network, config, samples):
        return
    need = _step(network, config, device).training(samples * config.accumulate, _state(config), config.accumulate)
    if not limit.fits(need):
        message = limit.text(f"training network `{network.name}` on a batch of {samples}", need)
        raise NasError([Diagnostic("NAS601", message, help="reduce `batch`, or split it with `accumulate`")])


@dataclass(frozen=True)
class _Limit:
    """The memory that a step may take; None if it is unknown."""

    size: int | None
    is_setting: bool = False

    def fits(self, need: int) -> bool:
        """Whether a step that needs as much fits."""
        return self.size is None or need * (1 if self.is_setting else MARGIN) <= self.size

    def surely_fits(self, network: Network, config: Any, samples: int) -> bool:
        """Whether a step fits by far, so that the network need not be compiled to find out."""
        found = cost(network.graph())
        return self.fits(SURE * found.memory(samples) + 4 * found.parameters * (2 + _state(config)))

    def text(self, subject: str, need: int) -> str:
        """The message if it does not fit."""
        assert self.size is not None, "else everything fits"
        where = "`memory_limit` is {}" if self.is_setting else "{} of memory are available"
        return f"{subject} needs {memory_text(need)}, but {where.format(memory_text(self.size))}"


def _limit(config: Any, device: Device) -> _Limit:
    free = _on_gpu(device) or available_memory()
    given = None if config.memory_limit is None else parse_memory(config.memory_limit)
    if given is not None and (free is None or given <= free):
        return _Limit(given, is_setting=True)
    return _Limit(free)


def _step(network: Network, config: Any, device: Device) -> StepMemory:
    """The memory of a step of the network as it is compiled."""
    options = passes.Options(device=device.fused_for, batch=device.samples(config))
    order = (*passes.SWITCHES, *(passes.FASTER if getattr(config, "fuse", False) else ()))  # `compress` never fuses
    graph = passes.run(network.graph(), order, options)
    return step_memory(graph, device.precision.itemsize, recompute=device.recompute)


def _check_recompute(network: Network, device: Device) -> None:
    if device.recompute and not any(scope.role in ("cell", "motif") for scope in network.graph().scopes):
        message = f"network `{network.name}` has neither cells nor motifs that could be computed again"
        help = "omit `recompute`; `accumulate` saves memory too"
        raise NasError([Diagnostic("NAS601", message, help=help)])


def _computes_a_part(config: Any, device: Device) -> bool:
    """Whether a step computes only what its strategy has drawn, which is a small part of the network."""
    strategy = getattr(config, "strategy", None)  # only of a search
    return strategy is not None and strategy_info(strategy).draws and not device.compile


def _state(config: Any) -> int:
    """The numbers that the optimiser keeps per weight."""
    return 2 if config.optimiser == "adamw" else int(config.momentum > 0)


def _on_gpu(device: Device) -> int | None:
    """Return how many bytes are free on a GPU; None if the device is another."""
    is_gpu = device.torch_device.type == "cuda"
    return torch.cuda.mem_get_info(device.torch_device)[0] if is_gpu else None
