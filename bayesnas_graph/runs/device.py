"""The device of a run: its precision, and the processes that share the work."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import Emitted, emit
from bayesnas_graph.codegen.supernet import compile_regions
from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.diagnostics.memory import is_out_of_memory
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import DeviceKind
from bayesnas_graph.runs.config.groups import DataSettings, FusionSettings, MachineSettings
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.fusion.measured import MeasuredFusion
from bayesnas_graph.runs.fusion.timing import Conditions
from bayesnas_graph.runs.process_state import CUBLAS, process_state_kept
from bayesnas_graph.runs.processes import Processes, join_processes
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runtime import recompute_cells, synchronised, use_channels_last

_PRECISION = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Device:
    """A torch device and how it is used."""

    torch_device: torch.device
    precision: torch.dtype = torch.float32
    channels_last: bool = False
    compile: bool = False
    recompute: bool = False
    processes: Processes = field(default_factory=Processes)
    fusion: MeasuredFusion | None = None  # None: siblings are fused by a table

    @staticmethod
    def of(config: MachineSettings, device: torch.device, processes: Processes) -> Device:
        """Return a device with the precision and memory format of the settings."""
        precision = _PRECISION[config.precision]
        return Device(device, precision, config.channels_last, config.compile, config.recompute, processes)

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

    def options(self, graph: Graph, config: SearchConfig | TrainConfig, *, apart: bool = False) -> passes.Options:
        """Return the options to compile a graph with. All processes have to call this."""
        options = passes.Options(device=self.fused_for, batch=self.samples(config), apart=apart)
        if self.fusion is None or not config.fuse or apart:
            return options
        conditions = Conditions(self.torch_device, self.precision, self.channels_last, options.batch)
        return replace(options, sites=self.fusion.answers(graph, options, conditions))

    def for_run(self, config: SearchConfig | TrainConfig, folder: RunFolder) -> Device:
        """Return the device for a run in this folder, which records what is timed.

        Times differ from run to run, so `auto` does not use them with `deterministic`.
        """
        on_gpu = self.torch_device.type in ("cuda", "mps") and not config.deterministic
        measured = config.fusion == "measured" or (config.fusion == "auto" and on_gpu)
        return replace(self, fusion=MeasuredFusion(self.processes, folder)) if measured else self

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

    def prepared(self, module: nn.Module, drawn: nn.Module | None = None) -> nn.Module:
        """Move a network to the device and set it up in place; return the module to call in training.

        That is `drawn` if it is given: a module with the weights of the network, which may leave some of them out.
        """
        module.to(self.torch_device)
        if self.channels_last:
            use_channels_last(module)
        if self.processes.world > 1:
            synchronised(module)
        if self.compile:
            compile_regions(module, graphs=self.torch_device.type == "cuda" and not self.recompute)
        if self.recompute:
            recompute_cells(module)
        called = module if drawn is None else drawn
        if self.processes.world == 1:
            return called
        ids = [self.torch_device] if self.torch_device.type == "cuda" else None
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # the class was renamed
            return DistributedDataParallel(
                called, device_ids=ids, broadcast_buffers=False, find_unused_parameters=drawn is not None
            )


def program_for(graph: Graph, config: FusionSettings, options: passes.Options) -> Emitted:
    """Emit a graph, fused as the settings and options say."""
    return emit(passes.run(graph, passes.FASTER if config.fuse else (), options))


def compiled_to_plain(options: passes.Options) -> dict[str, Any]:
    """Return what a checkpoint says about the options that its program was compiled with."""
    sites = [list(site) for site in options.sites]
    return {"fused_for": options.device, "samples": options.batch, "apart": options.apart, "sites": sites}


def compiled_from_plain(content: Mapping[str, Any]) -> passes.Options:
    """Return the options of a checkpoint. Raises ValueError if there are none; older ones have only the first two."""
    sites = tuple((key, fused) for key, fused in content.get("sites", ()))
    if not all(isinstance(key, str) and isinstance(fused, bool) for key, fused in sites):
        raise ValueError("not the answers of a run")
    apart = bool(content.get("apart", False))
    return passes.Options(device=content["fused_for"], batch=content["samples"], apart=apart, sites=sites)


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
    """Configure torch by the settings, and join the processes started by `torchrun`. Afterwards all is as it was.

    A resumed run passes its original number of threads, because sums depend on it.
    """
    with process_state_kept(compiles=config.compile):
        if config.deterministic:  # read when cuBLAS starts
            os.environ.setdefault(CUBLAS, ":4096:8")
        device = find_device(config.device)
        if threads or config.threads:
            torch.set_num_threads(threads or config.threads)
        if config.deterministic != torch.are_deterministic_algorithms_enabled():  # the call takes seconds
            torch.use_deterministic_algorithms(config.deterministic)
        torch.backends.cudnn.benchmark = not config.deterministic
        torch.backends.cudnn.deterministic = config.deterministic
        with join_processes(device) as processes:
            yield Device.of(config, device, processes)


def check_deterministic(graph: Graph, config: MachineSettings, device: Device) -> None:
    """Raise NasError if a run has to be deterministic, but torch would refuse an operation on this device."""
    if not config.deterministic or device.torch_device.type != "cuda":
        return
    for node in graph:
        if not node.op.repeats_on_cuda(*(graph[edge.source].shape for edge in graph.inputs(node.name))):
            message = f"the gradient of `{node.name}` (`{node.op.name}`) is not deterministic on CUDA"
            label = None if node.span is None else Label(node.span, "used here")
            help = "use `avg_pool` or `max_pool`, or omit `--deterministic`"
            raise NasError([Diagnostic("NAS601", message, label, help=help)])


@contextmanager
def hold_lock(folder: RunFolder, device: Device) -> Iterator[None]:
    """Lock a run folder, in the first process only."""
    if not device.processes.first:
        yield
        return
    with folder.locked():
        yield
