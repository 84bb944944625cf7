"""Where siblings are faster as one wide operation: `python -m benchmarks.fusion_sites`.

Four separable convolutions of one value, forward and backward, channels last: apart, and fused. The two take
turns; a ratio is taken within each round, and the table shows the median with the smallest and the largest.
From it comes `LARGEST_SIBLING` in `bayesnas_graph/passes/__init__.py`.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from pathlib import Path

import torch
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.elaborate import Checker
from bayesnas_graph.emit import build, emit
from bayesnas_graph.source import Source

SITES = [(channels, size) for channels, size in ((16, 32), (32, 16), (64, 8), (128, 4))]
SPACE = """
import "std.nas"
network n : image({channels}, {size}, {size}) -> image({channels}, {size}, {size}) {{
    in x
    node h[4] = x : sep_conv({kernel}, affine = false)
    out sum(h)
}}
"""


def module(channels: int, size: int, kernel: int, *, fused: bool) -> nn.Module:
    """The network of four siblings."""
    name = str(Path(__file__).parent.parent / "spaces" / "generated.nas")
    text = SPACE.format(channels=channels, size=size, kernel=kernel)
    (network,) = Checker(Report()).text(Source(name, text)).networks
    merged = passes.merge_common_subexpressions(network.graph())
    graph = passes.lighten(passes.fuse_siblings(merged) if fused else merged)
    found: nn.Module = build(emit(graph)).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return found


def seconds(network: nn.Module, x: torch.Tensor, repeats: int) -> float:
    """The time of a step."""
    start = time.perf_counter()
    for _ in range(repeats):
        torch.autograd.backward([network(x).square().mean()])
    return (time.perf_counter() - start) / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--batch", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {platform.machine()}, {options.threads} threads, {options.rounds} rounds\n")
    print("| values in a batch | batch | channels | size | kernel | apart, ms | fused, ms | times as fast (spread) |")
    print("|" + "---:|" * 8)
    rows = []
    for batch in options.batch:
        for channels, size in SITES:
            for kernel in (3, 5):
                x = torch.randn(batch, channels, size, size).to(memory_format=torch.channels_last).requires_grad_()
                forms = [module(channels, size, kernel, fused=fused) for fused in (False, True)]
                times: list[list[float]] = []
                for form in forms:
                    seconds(form, x, 2)
                for _ in range(options.rounds):
                    times.append([seconds(form, x, 3) for form in forms])
                ratios = sorted(apart / fused for apart, fused in times)
                apart, fused = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
                speed = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
                cells = f"{batch} | {channels} | {size} | {kernel} | {apart:.1f} | {fused:.1f} | {speed}"
                rows.append((batch * channels * size**2, cells))
    for values, cells in sorted(rows):
        print(f"| {values:,} | {cells} |")


if __name__ == "__main__":
    main()
