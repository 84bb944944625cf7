"""What works on a GPU, how fast, and with how much memory: `python -m benchmarks.gpu_smoke`.

Takes about ten minutes and prints Markdown to paste into an issue. `--device cpu --tiny` takes seconds and shows that
the script itself works; what needs CUDA is skipped there. A part that fails has its error in the table.

Steps (forward and backward) of the search network of DARTS: written by hand, with torch.compile, and compiled by us.
Then training steps of a search in which waiting for the device is an error, and short searches.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph import api, passes
from bayesnas_graph.codegen.emit import build, emit, transfer
from bayesnas_graph.codegen.supernet import begin_step, compile_regions
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.fusion.measured import MeasuredFusion
from bayesnas_graph.runs.fusion.timing import synchronise
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.runtime import use_channels_last
from bayesnas_graph.search.learner import new_learner
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates
from benchmarks.plain_darts import MixedOp, PlainDarts, slots
from benchmarks.search_overhead import problem
from benchmarks.tables import table

SKIPPED = "skipped: needs CUDA"
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Form:
    """A way to compute the network."""

    network: str  # `plain` or `ours`
    precision: str = "fp32"
    compile: bool = False
    fusion: str = ""  # of ours: `all`, `none` or `measured`
    channels_last: bool = True

    def __str__(self) -> str:
        words = [self.network, self.precision, f"fused: {self.fusion}" if self.fusion else ""]
        words += ["torch.compile" if self.compile else "", "" if self.channels_last else "channels first"]
        return ", ".join(filter(None, words))


FORMS = (
    Form("plain", channels_last=False),
    Form("plain"),
    Form("plain", compile=True),
    Form("ours", fusion="none"),
    Form("ours", fusion="all"),
    Form("ours", fusion="measured"),
    Form("ours", fusion="measured", compile=True),
    Form("plain", "bf16"),
    Form("ours", "bf16", fusion="measured"),
    Form("ours", "bf16", fusion="measured", compile=True),
    Form("plain", "fp16"),
    Form("ours", "fp16", fusion="measured"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "mps", "cpu"])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--tiny", action="store_true", help="a small network and few steps")
    options = parser.parse_args()
    print(report(torch.device(options.device), options.batch, options.rounds, tiny=options.tiny), end="")


def report(device: torch.device, batch: int, rounds: int, *, tiny: bool = False) -> str:
    """Everything, as Markdown."""
    if tiny:
        batch, rounds = 2, 2
    return "\n".join([about(device), steps(device, batch, rounds, tiny), waiting(device, tiny), searches(device, tiny)])


def about(device: torch.device) -> str:
    """The device and the software."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    cudnn = torch.backends.cudnn.version()  # type: ignore[no-untyped-call]
    return f"{name}, torch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {cudnn}\n"


# ------------------------------------------------------------------------------------- speed and memory


def elaborated(width: int, cells: int) -> Graph:
    """The graph of the search network of DARTS, with its switches."""
    checker = Checker(Report())
    space = checker.path(Path(__file__).parent.parent / "spaces" / "darts.nas")
    assert space is not None, "it is shipped"
    network = checker.network(space.module, "search", {"width": width, "cells": cells})
    assert network is not None, "its parameters are those of the space"
    return passes.run(network.graph(), passes.SWITCHES)


def steps(device: torch.device, batch: int, rounds: int, tiny: bool) -> str:
    """The table of training steps; the ratio is to the plain network in the same precision, channels last."""
    width, cells = (4, 3) if tiny else (16, 8)
    torch.manual_seed(0)
    plain, graph = PlainDarts(width, cells), elaborated(width, cells)
    with torch.no_grad():
        expected = copy.deepcopy(plain)(_batch(batch)[0])
    found: dict[Form, tuple[float, str, float]] = {}
    rows = []
    for form in FORMS:
        skip = SKIPPED if device.type != "cuda" and (form.compile or form.precision == "fp16") else ""
        with noted(skip) as problem_of:
            if not skip:
                network = built(form, plain, graph, device, batch, cells)
                found[form] = time_steps(form, network, device, batch, rounds, expected)
        base = found.get(Form("plain", form.precision))
        if form in found and base is not None:
            seconds, memory, first = found[form]
            rows.append([str(form), f"{1e3 * seconds:.1f}", f"{base[0] / seconds:.2f}", memory, f"{first:.1f}", ""])
        elif form in found:
            rows.append([str(form), f"{1e3 * found[form][0]:.1f}", "", *found[form][1:2], f"{found[form][2]:.1f}", ""])
        else:
            rows.append([str(form), "", "", "", "", problem_of[0]])
    head = ["step of DARTS", "ms", "times as fast", "peak memory, MiB", "first step, s", "note"]
    return table(head, rows)


def built(form: Form, plain: nn.Module, graph: Graph, device: torch.device, batch: int, cells: int) -> nn.Module:
    """The network in a form, with the weights of the plain one."""
    if form.network == "plain":
        network = copy.deepcopy(plain).to(device)
    else:
        used = Device(device, TYPES[form.precision], channels_last=True)
        if form.fusion == "measured":
            used = replace(used, fusion=MeasuredFusion(Processes()))
        options = used.options(graph, SearchConfig(batch=batch))
        without_fusion = tuple(step for step in passes.FASTER if step is not passes.fuse_siblings)
        order = without_fusion if form.fusion == "none" else passes.FASTER
        program = emit(passes.run(graph, order, replace(options, device="cuda")))
        network = build(program)
        network.load_state_dict(transfer(plain.state_dict(), slots(cells), program))
        network.to(device)
    if form.channels_last:
        use_channels_last(network)
    if form.compile and form.network == "ours":
        compile_regions(network, graphs=device.type == "cuda")
    elif form.compile:  # edge by edge as well: a whole network takes many minutes
        torch._dynamo.config.recompile_limit = 64
        for part in network.modules():
            if isinstance(part, MixedOp):
                part.compile(dynamic=False, mode="reduce-overhead")
    return network


def time_steps(
    form: Form, network: nn.Module, device: torch.device, batch: int, rounds: int, expected: Tensor
) -> tuple[float, str, float]:
    """Seconds per step, the peak of memory, and seconds of the first step. The outputs have to be as expected."""
    x, labels = (tensor.to(device) for tensor in _batch(batch))
    if form.channels_last:
        x = x.to(memory_format=torch.channels_last)

    def step() -> Tensor:
        if form.compile:
            begin_step(device)
        network.zero_grad(set_to_none=True)
        with torch.autocast(device.type, TYPES[form.precision], enabled=form.precision != "fp32"):
            outputs: Tensor = network(x)
        torch.autograd.backward([F.cross_entropy(outputs.float(), labels)])
        return outputs.detach()

    start = time.perf_counter()
    outputs = step().float().cpu()
    first = time.perf_counter() - start
    tolerance = 1e-2 if form.precision == "fp32" else 0.5  # TF32; half precision
    torch.testing.assert_close(outputs, expected, rtol=tolerance, atol=tolerance)
    for _ in range(3):
        step()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    times = []
    for _ in range(rounds):
        synchronise(device)
        start = time.perf_counter()
        step()
        synchronise(device)
        times.append(time.perf_counter() - start)
    memory = f"{torch.cuda.max_memory_allocated(device) / 2**20:,.0f}" if device.type == "cuda" else ""
    return median(times), memory, first


def _batch(batch: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, 3, 32, 32, generator=generator), torch.randint(10, (batch,), generator=generator)


# ------------------------------------------------------------------------------------- searches


def waiting(device: torch.device, tiny: bool) -> str:
    """The table of strategies: whether a training step waits for the device."""
    rows = []
    for strategy in STRATEGIES if not tiny else ("bayes",):
        for precision in ("fp32", "bf16"):
            note = "waits for nothing" if device.type == "cuda" else f"ran; {SKIPPED} to notice waiting"
            with noted(note) as found:
                watch_steps(strategy, precision, device)
            rows.append([strategy, precision, found[0]])
    return table(["training steps of strategy", "precision", "result"], rows, words=3)


def watch_steps(strategy: str, precision: str, device: torch.device) -> None:
    """Take training steps; on CUDA, raise RuntimeError if one waits for the device after the first two."""
    config = SearchConfig(strategy=strategy, batch=16, precision=precision)  # type: ignore[arg-type]
    task = problem("nasbench201", config)
    used = Device.of(config, device, Processes())
    batches, rates = task.batches(used, 0), Rates(0.05, 0.1, config.intensities)
    learner = strategy_of(config).start(new_learner(task.graph, config, used), next(batches))
    some = [next(batches) for _ in range(5)]
    held_out = [next(batches) if strategy_of(config).gates_on == "held_out" else None for _ in some]
    for i, (batch, other) in enumerate(zip(some, held_out, strict=True)):
        with _no_waiting(device) if i >= 2 else _allowed():
            train_step(learner, batch, rates, other)


@contextmanager
def _no_waiting(device: torch.device) -> Iterator[None]:
    if device.type != "cuda":
        yield
        return
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@contextmanager
def _allowed() -> Iterator[None]:
    yield


def searches(device: torch.device, tiny: bool) -> str:
    """The table of short searches of a small space."""
    short: dict[str, Any] = {"iterations": 1, "steps": 20, "warmup": 10, "finish": 5} if tiny else {}
    settings: dict[str, dict[str, Any]] = {
        "fp32": {},
        "bf16": {"precision": "bf16"},
        "fp16": {"precision": "fp16"},
        "bf16, compile": {"precision": "bf16", "compile": True},
        "deterministic": {"deterministic": True},
    }
    rows = []
    for name, given in settings.items():
        skip = SKIPPED if device.type != "cuda" and (name == "fp16" or "compile" in given) else ""
        row = ["", "", ""]
        with noted(skip) as found, TemporaryDirectory() as folder:
            if not skip:
                start = time.perf_counter()
                result = api.search("quickstart", output=Path(folder) / "run", device=device.type, **short, **given)
                seconds = time.perf_counter() - start
                row = [f"{seconds:.0f}", f"{result.outcome.accuracy:.3f}", f"{result.outcome.cost.parameters:,}"]
        rows.append([name, *row, found[0]])
    return table(["search of quickstart", "s", "accuracy", "parameters", "note"], rows)


@contextmanager
def noted(note: str) -> Iterator[list[str]]:
    """Run a part of the script; the note, or the first line of the error if it fails."""
    found = [note]
    try:
        yield found
    except Exception as error:  # the rest of the table is of use without this row
        found[0] = f"failed: {type(error).__name__}: {str(error).strip().partition(chr(10))[0][:120]}"


if __name__ == "__main__":
    main()
