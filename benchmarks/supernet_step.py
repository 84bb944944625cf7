"""Training step of compiled supernets, compared with plain ones: `python -m benchmarks.supernet_step`.

The networks are those of DARTS and of NAS-Bench-201 on CIFAR-10, in the sizes of their papers, with all candidates of
all edges. The plain ones, in both memory formats, have only modules of torch. All have the same weights, and their
outputs are compared first. Steps (forward and backward) alternate, so that background load affects all forms; the ratio
is taken within each round, and the table shows its median and range. Memory is the growth of a separate process during
two steps.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph import passes
from bayesnas_graph.codegen import supernet
from bayesnas_graph.codegen.emit import Emitted, build, emit, transfer
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.runtime import use_channels_last
from benchmarks import plain_darts, plain_nasbench201, tables
from benchmarks.command import arguments, command, finish
from benchmarks.dots import dots
from benchmarks.measure import now, peak, printed_by
from benchmarks.record import Record, Row
from benchmarks.tables import ratios, spread

CELLS = 8  # of DARTS
SPACES = ("darts", "nasbench201")
FORMS = ("plain", "plain, channels last", "compiled graph", "compiled graph, torch.compile")


def elaborated(name: str) -> Graph:
    """The graph of the search network of a space, as written."""
    space = Checker(Report()).path(Path(__file__).parent.parent / "spaces" / f"{name}.nas")
    assert space is not None, "it is shipped"
    return next(network for network in space.networks if network.name == "search").graph()


def plain(space: str) -> tuple[nn.Module, Emitted]:
    """The network in plain torch, and where its weights are."""
    if space == "darts":
        return plain_darts.PlainDarts(cells=CELLS), plain_darts.slots(CELLS)
    return plain_nasbench201.PlainNasBench201(), plain_nasbench201.slots()


def networks(space: str, batch: int, forms: tuple[str, ...]) -> dict[str, nn.Module]:
    """The network of a space in each form, all with the same weights."""
    torch.manual_seed(0)
    by_hand, slots = plain(space)
    found: dict[str, nn.Module] = {}
    for form in forms:
        if form.startswith("plain"):
            found[form] = copy.deepcopy(by_hand)
        else:
            order = *passes.SWITCHES, *passes.FASTER
            program = emit(passes.run(elaborated(space), order, passes.Options(batch=batch)))
            found[form] = build(program)
            found[form].load_state_dict(transfer(by_hand.state_dict(), slots, program))
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


def times(space: str, batch: int, rounds: int, forms: tuple[str, ...]) -> tuple[float, dict[str, list[float]]]:
    """Wall-clock seconds of the first step of the last form, and seconds per step by form and round."""
    steps = {form: stepper(form, network, batch) for form, network in networks(space, batch, forms).items()}
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


def memory(space: str, form: str, batch: int) -> float:
    """The growth in MiB of a separate process during two steps."""
    return printed_by("supernet_step", "--grow", form, "--space", space, "--batch", str(batch))


def grow(space: str, form: str, batch: int) -> float:
    """The measurement of `memory`, in the separate process."""
    step = stepper(form, networks(space, batch, (form,))[form], batch)
    stepper(form, networks(space, 1, (form,))[form], 1)()  # lets torch load its libraries
    before = peak()
    step()
    step()
    return peak() - before


def rows(space: str, batch: int, rounds: int, forms: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """A row for each form."""
    compiling, found = times(space, batch, rounds, forms)
    for form, seconds in found.items():
        row = {"space": space, "batch": batch, "form": form, "step, s": seconds}
        if form.endswith("torch.compile"):
            yield {**row, "compiling, s": compiling}
        else:
            yield {**row, "memory, MiB": memory(space, form, batch)}


def table(record: Record) -> str:
    """A row for each form of each network and batch."""
    lines = []
    for some in groups(record):
        by_hand, best = some[0], min(some[:2], key=lambda row: median(row["step, s"]))
        for row in some:
            mib = row.get("memory, MiB")
            lines.append(
                [
                    row["space"],
                    str(row["batch"]),
                    row["form"] + (f", in {row['compiling, s']:.0f} s" if "compiling, s" in row else ""),
                    f"{median(row['step, s']):.2f}",
                    spread(ratios(by_hand["step, s"], row["step, s"])),
                    spread(ratios(best["step, s"], row["step, s"])),
                    f"{mib:,.0f}" if mib else "",
                    f"{mib / by_hand['memory, MiB']:.2f}" if mib else "",
                ]
            )
    speed = "times as fast as plain", "as the best plain one"
    return tables.table(["space", "batch", "form", "step, s", *speed, "memory, MiB", "of plain"], lines)


def groups(record: Record) -> list[list[Row]]:
    """The rows of each network and batch, the plain network first."""
    found = dict.fromkeys((row["space"], row["batch"]) for row in record.rows)
    return [record.where(space=space, batch=batch) for space, batch in found]


def picture(record: Record) -> str:
    """Speed relative to the plain network, by round."""
    by_group = {}
    for by_hand, *others in groups(record):
        name = f"{by_hand['space']}, batch {by_hand['batch']}"
        by_group[name] = {row["form"]: ratios(by_hand["step, s"], row["step, s"]) for row in others}
    return dots(by_group, "times as fast as the plain network", reference=1)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--space", choices=SPACES, nargs="+", default=SPACES)
    parser.add_argument("--batch", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--torch-compile", action="store_true", help="measure torch.compile as well")
    parser.add_argument("--grow", choices=FORMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.grow:
        print(grow(options.space[0], options.grow, options.batch[0]))
        return
    settings = {"batch": options.batch, "rounds": options.rounds, "cells": CELLS}
    record = Record.begin(
        options.name, command(), ["space", "batch", "form"], seeds=[0, 1], settings=settings, threads=options.threads
    )
    forms = FORMS if options.torch_compile else FORMS[:3]
    for space, batch in product(options.space, options.batch):
        record = record.with_rows(rows(space, batch, options.rounds, forms))
    finish(record, table, options)


if __name__ == "__main__":
    main()
