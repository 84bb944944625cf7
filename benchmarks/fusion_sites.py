"""Where siblings are faster as one wide operation: `python -m benchmarks.fusion_sites`.

Four separable convolutions of one value, forward and backward, channels last, apart and fused. Both alternate; the
ratio is taken within each round, and the table shows its median and range. `LARGEST_SIBLING` in
`bayesnas_graph/passes/fuse_siblings.py` is based on it.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import median

import torch

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.runs.fusion.timing import Conditions, site_module, time_alternately
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.record import Record
from benchmarks.tables import ratios, spread

SITES = ((16, 32), (32, 16), (64, 8), (128, 4))  # channels and size
SPACE = """
import "std.nas"
network n : image({channels}, {size}, {size}) -> image({channels}, {size}, {size}) {{
    in x
    node h[4] = x : sep_conv({kernel}, affine = false)
    out sum(h)
}}
"""


def site(channels: int, size: int, kernel: int) -> passes.FusionSite:
    """The four siblings, as a search finds them."""
    name = str(Path(__file__).parent.parent / "spaces" / "generated.nas")
    text = SPACE.format(channels=channels, size=size, kernel=kernel)
    (network,) = Checker(Report()).text(Source(name, text)).networks
    (found,) = passes.fusion_sites(passes.merge_common_subexpressions(network.graph()))
    return found


def measure(batch: int, channels: int, size: int, kernel: int, rounds: int) -> dict[str, object]:
    """A row of the record."""
    conditions = Conditions(torch.device("cpu"), torch.float32, channels_last=True, batch=batch)
    graph = site(channels, size, kernel).graph
    forms = [site_module(graph, conditions, fused=fused) for fused in (False, True)]
    x = torch.randn(batch, channels, size, size).to(memory_format=torch.channels_last).requires_grad_()
    apart, fused = time_alternately(forms, x, conditions, rounds, at_least=rounds)
    times = {"apart, ms": [1e3 * one for one in apart], "fused, ms": [1e3 * one for one in fused]}
    place = {"batch": batch, "channels": channels, "size": size, "kernel": kernel}
    return {"values": x.numel(), **place, **times}


def table(record: Record) -> str:
    site = ("values", *record.key)
    rows = [
        [
            *(f"{row[name]:,}" for name in site),
            f"{median(row['apart, ms']):.1f}",
            f"{median(row['fused, ms']):.1f}",
            spread(ratios(row["apart, ms"], row["fused, ms"])),
        ]
        for row in sorted(record.rows, key=lambda row: [row[name] for name in site])
    ]
    head = ["values in a batch", *record.key, "apart, ms", "fused, ms", "times as fast (spread)"]
    return tables.table(head, rows, words=0)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    record = Record.begin(
        options.name,
        command(),
        ["batch", "channels", "size", "kernel"],
        settings={"rounds": options.rounds},
        threads=options.threads,
    )
    sites = product(options.batch, SITES, (3, 5))
    rows = [measure(batch, *site, kernel, options.rounds) for batch, site, kernel in sites]
    finish(record.with_rows(rows), table, options)


if __name__ == "__main__":
    main()
