"""Where a search runs: a device, its arithmetic, and the processes that share the work."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bayesnas_graph.codegen.supernet import compile_regions
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.passes import Device
from bayesnas_graph.runs.config import Machine, Samples
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.processes import Processes, joined
from bayesnas_graph.runtime import synchronised

_PRECISION = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Place:
    """A device and how it is used."""

    device: torch.device
    precision: torch.dtype = torch.float32
    channels_last: bool = False
    compile: bool = False
    processes: Processes = field(default_factory=Processes)

    @staticmethod
    def of(config: Machine, device: torch.device, processes: Processes) -> Place:
        """What the settings ask for."""
        # On CPUs the library that torch calls writes past the end of the gradients of narrow strided convolutions.
        channels_last = config.channels_last and device.type != "cpu"
        return Place(device, _PRECISION[config.precision], channels_last, config.compile, processes)

    @property
    def fused_for(self) -> Device:
        """For which kind of device networks are compiled."""
        return "cpu" if self.device.type == "cpu" else "cuda"

    def autocast(self) -> AbstractContextManager[object]:
        """Arithmetic in the wanted precision, where torch thinks it safe."""
        if self.precision == torch.float32:
            return nullcontext()
        return torch.autocast(self.device.type, self.precision)

    def scaler(self) -> torch.amp.GradScaler:
        """Keeps small gradients of half precision above zero; does nothing elsewhere."""
        return torch.amp.GradScaler(self.device.type, enabled=self.precision == torch.float16)

    def prepared(self, module: nn.Module) -> nn.Module:
        """A network, moved here and changed in place where it must be; what is to be called in training."""
        module.to(self.device)
        if self.channels_last:
            module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if self.processes.world > 1:
            synchronised(module)
        if self.compile:
            compile_regions(module)
        if self.processes.world == 1:
            return module
        ids = [self.device] if self.device.type == "cuda" else None
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # newer versions call it otherwise
            return DistributedDataParallel(module, device_ids=ids, broadcast_buffers=False)


@contextmanager
def machine_limits(config: Samples, place: Place) -> Iterator[None]:
    """Tell of what the machine cannot do: torch raises the same errors for that as for mistakes. Raises NasError."""
    try:
        yield
    except RuntimeError as error:
        first = str(error).partition("\n")[0]
        if isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in first:
            message = f"a batch of {config.batch} does not fit into the memory of `{place.device.type}`"
            help = "set `accumulate` to more, which computes a batch in parts, or `batch` to less"
            raise NasError([Diagnostic("NAS601", message, help=help)]) from None
        if place.compile and type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
            help = "leave `--compile` away, or install a C++ compiler that works"
            raise NasError([Diagnostic("NAS609", f"torch.compile does not work here: {first}", help=help)]) from None
        raise


def find_device(wanted: str) -> torch.device:
    """The device of this name, or the best there is. Raises NasError if there is none such."""
    present = [name for name, there in (("cuda", torch.cuda.is_available()), ("mps", _has_mps())) if there] + ["cpu"]
    name = present[0] if wanted == "auto" else wanted
    if name not in present:
        help = f"there is {', '.join(present)}; `--device auto` takes the best"
        raise NasError([Diagnostic("NAS609", f"there is no device `{name}` here", help=help)])
    if name == "cuda":
        index = int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
        torch.cuda.set_device(index)
        return torch.device("cuda", index)
    return torch.device(name)


def _has_mps() -> bool:
    return torch.backends.mps.is_available()


@contextmanager
def prepared(config: Machine, threads: int = 0) -> Iterator[Place]:
    """Torch set up as the settings say, and joined with the processes that `torchrun` has started.

    A run that goes on does so with as many threads as it began with: sums depend on how they are shared out.
    """
    device = find_device(config.device)
    if threads or config.threads:
        torch.set_num_threads(threads or config.threads)
    if config.deterministic != torch.are_deterministic_algorithms_enabled():  # the call itself takes seconds
        torch.use_deterministic_algorithms(config.deterministic)
    torch.backends.cudnn.benchmark = not config.deterministic
    with joined(device) as processes:
        yield Place.of(config, device, processes)


@contextmanager
def only_here(folder: RunFolder, place: Place) -> Iterator[None]:
    """The first process holds the folder for all."""
    if not place.processes.first:
        yield
        return
    with folder.locked():
        yield
