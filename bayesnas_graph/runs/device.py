"""The device of a run: its precision, and the processes that share the work."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import Emitted, emit
from bayesnas_graph.codegen.supernet import compile_regions
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.memory import is_out_of_memory
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import DeviceKind
from bayesnas_graph.runs.config.groups import DataSettings, FusionSettings, MachineSettings
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.processes import Processes, join_processes
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runtime import synchronised, use_channels_last

_PRECISION = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Device:
    """A torch device and how it is used."""

    torch_device: torch.device
    precision: torch.dtype = torch.float32
    channels_last: bool = False
    compile: bool = False
    processes: Processes = field(default_factory=Processes)

    @staticmethod
    def of(config: MachineSettings, device: torch.device, processes: Processes) -> Device:
        """Return a device with the precision and memory format of the settings."""
        return Device(device, _PRECISION[config.precision], config.channels_last, config.compile, processes)

    def __str__(self) -> str:
        world = self.processes.world
        return f"{self.torch_device}, {world} processes" if world > 1 else str(self.torch_device)

    @property
    def fused_for(self) -> DeviceKind:
        """The kind of device to compile networks for."""
        return "cpu" if self.torch_device.type == "cpu" else "cuda"

    def samples(self, config: DataSettings) -> int:
        """Return how many samples a process computes at a time."""
        return max(1, config.batch // config.accumulate // self.processes.world)

    def autocast(self) -> AbstractContextManager[object]:
        """Use the precision of the settings where torch considers it safe."""
        if self.precision == torch.float32:
            return nullcontext()
        return torch.autocast(self.torch_device.type, self.precision)

    def scaler(self) -> GradientScaler:
        """Return a gradient scaler against underflow in half precision; it does nothing in other precisions."""
        return GradientScaler(self.torch_device, enabled=self.precision == torch.float16)

    @property
    def fused_optimiser(self) -> bool:
        """Whether optimizers have to be fused, so that no step of a scaler waits for the device."""
        return self.precision == torch.float16 and self.torch_device.type != "cpu"

    def prepared(self, module: nn.Module) -> nn.Module:
        """Move a network to the device and set it up in place; return the module to call in training."""
        module.to(self.torch_device)
        if self.channels_last:
            use_channels_last(module)
        if self.processes.world > 1:
            synchronised(module)
        if self.compile:
            compile_regions(module)
        if self.processes.world == 1:
            return module
        ids = [self.torch_device] if self.torch_device.type == "cuda" else None
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # the class was renamed
            return DistributedDataParallel(module, device_ids=ids, broadcast_buffers=False)


def program_for(graph: Graph, config: FusionSettings, kind: DeviceKind, samples: int) -> Emitted:
    """Emit a graph, fused as the settings say for a kind of device and this many samples at a time."""
    options = passes.Options(device=kind, batch=samples)
    return emit(passes.run(graph, passes.FASTER if config.fuse else (), options))


@contextmanager
def machine_limits(config: DataSettings, device: Device) -> Iterator[None]:
    """Turn torch's errors about memory and compilers into NasError."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        first = str(error).partition("\n")[0]
        if isinstance(error, torch.OutOfMemoryError) or is_out_of_memory(error):
            message = f"a batch of {config.batch} does not fit into the memory of `{device.torch_device.type}`"
            help = "increase `accumulate`, which computes a batch in parts, or reduce `batch`"
            raise NasError([Diagnostic("NAS601", message, help=help)]) from None
        if device.compile and type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
            help = "omit `--compile`, or install a working C++ compiler"
            raise NasError([Diagnostic("NAS609", f"torch.compile does not work here: {first}", help=help)]) from None
        raise


def find_device(wanted: str) -> torch.device:
    """Return the device of this name, or the best one for `auto`. Raises NasError if it is not available."""
    checked = (("cuda", torch.cuda.is_available()), ("mps", _has_mps()))
    present = [name for name, available in checked if available] + ["cpu"]
    name = present[0] if wanted == "auto" else wanted
    if name not in present:
        help = f"available: {', '.join(present)}; `--device auto` selects the best"
        raise NasError([Diagnostic("NAS609", f"no device `{name}` is available", help=help)])
    if name == "cuda":
        index = int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
        torch.cuda.set_device(index)
        return torch.device("cuda", index)
    return torch.device(name)


def _has_mps() -> bool:
    return torch.backends.mps.is_available()


@contextmanager
def prepare_device(config: MachineSettings, threads: int = 0) -> Iterator[Device]:
    """Configure torch by the settings, and join the processes started by `torchrun`.

    A resumed run passes its original number of threads, because sums depend on it.
    """
    device = find_device(config.device)
    if threads or config.threads:
        torch.set_num_threads(threads or config.threads)
    if config.deterministic != torch.are_deterministic_algorithms_enabled():  # the call takes seconds
        torch.use_deterministic_algorithms(config.deterministic)
    torch.backends.cudnn.benchmark = not config.deterministic
    with join_processes(device) as processes:
        yield Device.of(config, device, processes)


@contextmanager
def hold_lock(folder: RunFolder, device: Device) -> Iterator[None]:
    """Lock a run folder, in the first process only."""
    if not device.processes.first:
        yield
        return
    with folder.locked():
        yield
