"""Training step of the compiled supernet of DARTS, compared with a plain one: `python -m benchmarks.supernet_step`.

The network is the one of DARTS on CIFAR-10: 16 channels, 8 cells, all candidates of all edges. The plain one, in both
memory formats, has only modules of torch. All have the same weights, and their outputs are compared first. Steps
(forward and backward) alternate, so that background load affects all forms; the ratio is taken within each round, and
the table shows its median and range. Memory is the growth of a separate process during two steps.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph import passes
from bayesnas_graph.codegen import supernet
from bayesnas_graph.codegen.emit import build, emit, transfer
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.runtime import use_channels_last
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.dots import dots
from benchmarks.measure import now, peak, printed_by
from benchmarks.plain_darts import PlainDarts, slots
from benchmarks.record import Record
from benchmarks.tables import ratios, spread

CELLS = 8
FORMS = ("plain", "plain, channels last", "compiled graph", "compiled graph, torch.compile")


def elaborated() -> Graph:
    """The graph of the search network, as written."""
    space = Checker(Report()).path(Path(__file__).parent.parent / "spaces" / "darts.nas")
    assert space is not None, "it is shipped"
    return next(network for network in space.networks if network.name == "search").graph()


def networks(batch: int, forms: tuple[str, ...]) -> dict[str, nn.Module]:
    """The network in each form, all with the same weights."""
    torch.manual_seed(0)
    plain = PlainDarts(cells=CELLS)
    found: dict[str, nn.Module] = {}
    for form in forms:
        if form.startswith("plain"):
            found[form] = copy.deepcopy(plain)
        else:
            program = emit(passes.run(elaborated(), (*passes.SWITCHES, *passes.FASTER), passes.Options(batch=batch)))
            found[form] = build(program)
            found[form].load_state_dict(transfer(plain.state_dict(), slots(CELLS), program))
        if form == "plain, channels last":
            found[form].to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        elif form != "plain":
            use_channels_last(found[form])
        if form.endswith("torch.compile"):
            supernet.compile_regions(found[form])
    return found


def stepper(form: str, network: nn.Module, batch: int) -> Callable[[], Tensor]:
    """A function that makes a step and returns the outputs."""
    torch.manual_seed(1)
    x, labels = torch.randn(batch, 3, 32, 32), torch.randint(10, (batch,))
    if form != "plain":
        x = x.to(memory_format=torch.channels_last)

    def step() -> Tensor:
        network.zero_grad(set_to_none=True)
        outputs: Tensor = network(x)
        torch.autograd.backward([F.cross_entropy(outputs, labels)])
        return outputs.detach()

    return step


def times(batch: int, rounds: int, forms: tuple[str, ...]) -> tuple[float, dict[str, list[float]]]:
    """Wall-clock seconds of the first step of the last form, and seconds per step by form and round."""
    steps = {form: stepper(form, network, batch) for form, network in networks(batch, forms).items()}
    expected = steps["plain"]()
    for step in steps.values():
        start = time.perf_counter()
        torch.testing.assert_close(step(), expected, rtol=1e-3, atol=1e-3)
        first = time.perf_counter() - start
    found: dict[str, list[float]] = {form: [] for form in steps}
    for _ in range(rounds):
        for form, step in steps.items():
            start = now()
            step()
            found[form].append(now() - start)
    return first, found


def memory(form: str, batch: int) -> float:
    """The growth in MiB of a separate process during two steps."""
    return printed_by("supernet_step", "--grow", form, "--batch", str(batch))


def grow(form: str, batch: int) -> float:
    """The measurement of `memory`, in the separate process."""
    step = stepper(form, networks(batch, (form,))[form], batch)
    stepper(form, networks(1, (form,))[form], 1)()  # lets torch load its libraries
    before = peak()
    step()
    step()
    return peak() - before


def rows(batch: int, rounds: int, forms: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """A row for each form."""
    compiling, found = times(batch, rounds, forms)
    for form, seconds in found.items():
        row = {"batch": batch, "form": form, "step, s": seconds}
        if form.endswith("torch.compile"):
            yield {**row, "compiling, s": compiling}
        else:
            yield {**row, "memory, MiB": memory(form, batch)}


def table(record: Record) -> str:
    parts = []
    for batch in record.values("batch"):
        some = record.where(batch=batch)
        plain = some[0]
        lines = []
        for row in some:
            mib = row.get("memory, MiB")
            lines.append(
                [
                    row["form"] + (f", in {row['compiling, s']:.0f} s" if "compiling, s" in row else ""),
                    f"{median(row['step, s']):.2f}",
                    spread(ratios(plain["step, s"], row["step, s"])),
                    f"{mib:,.0f}" if mib else "",
                    f"{mib / plain['memory, MiB']:.2f}" if mib else "",
                ]
            )
        head = ["form", "step, s", "times as fast as plain (spread)", "memory, MiB", "of plain"]
        parts.append(f"Batch {batch}:\n\n" + tables.table(head, lines))
    return "\n".join(parts)


def picture(record: Record) -> str:
    """Speed relative to the plain network, by round."""
    groups = {}
    for batch in record.values("batch"):
        plain, *others = record.where(batch=batch)
        groups[f"batch {batch}"] = {row["form"]: ratios(plain["step, s"], row["step, s"]) for row in others}
    return dots(groups, "times as fast as the plain network", reference=1)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--torch-compile", action="store_true", help="measure torch.compile as well")
    parser.add_argument("--grow", choices=FORMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.grow:
        print(grow(options.grow, *options.batch))
        return
    settings = {"batch": options.batch, "rounds": options.rounds, "cells": CELLS}
    record = Record.begin(
        options.name, command(), ["batch", "form"], seeds=[0, 1], settings=settings, threads=options.threads
    )
    for batch in options.batch:
        record = record.with_rows(rows(batch, options.rounds, FORMS if options.torch_compile else FORMS[:3]))
    finish(record, table, options)


if __name__ == "__main__":
    main()
