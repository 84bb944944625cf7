"""How the time to compile grows with the graph: `python -m benchmarks.compile_scaling`.

From text to a module of torch: parsed, checked, elaborated, all passes with their checks, emitted, executed. The
spaces are stacks of cells of four nodes with seven candidates per edge, as in DARTS, each cell a motif of its own
width so that nothing is found twice; and the search network of DARTS itself. The sizes take turns; the table shows
the median of the rounds and their spread.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from itertools import pairwise
from pathlib import Path

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.elaborate import Checker
from bayesnas_graph.emit import build, emit
from bayesnas_graph.ir import Graph
from bayesnas_graph.source import Source

CELLS = (1, 2, 4, 8, 20)
STAGES = ("check", "graph", "passes", "emit", "build")
SPACE = """
import "darts.nas"
network search : image(3, 32, 32) -> classes(10) {{
    in x
    out backbone(normal, reduction, 4, {cells}, affine = false)(x)
}}
"""


def measure(text: str, folder: Path) -> tuple[Graph, dict[str, float]]:
    """The elaborated graph of a text, and the seconds of every stage."""
    marks = [time.perf_counter()]
    space = Checker(Report()).text(Source(str(folder / "generated.nas"), text))
    (network,) = (found for found in space.networks if found.name == "search")
    marks.append(time.perf_counter())
    graph = network.graph()
    marks.append(time.perf_counter())
    compiled = passes.run(graph, passes.passes())
    marks.append(time.perf_counter())
    program = emit(compiled)
    marks.append(time.perf_counter())
    build(program)
    marks.append(time.perf_counter())
    return graph, dict(zip(STAGES, (after - before for before, after in pairwise(marks)), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(__file__).parent.parent / "spaces"
    texts = {cells: SPACE.format(cells=cells) for cells in CELLS}
    measure(texts[CELLS[0]], folder)  # loads torch
    found: dict[int, list[dict[str, float]]] = {cells: [] for cells in texts}
    sizes: dict[int, Graph] = {}
    for _ in range(options.rounds):
        for cells, text in texts.items():
            sizes[cells], seconds = measure(text, folder)
            found[cells].append(seconds)
    print(f"Python {platform.python_version()}, {platform.machine()}, {options.rounds} rounds\n")
    print("| cells | operations | edges | seconds (spread) | per 1,000 edges | " + " | ".join(STAGES) + " |")
    print("|" + "---:|" * (5 + len(STAGES)))
    for cells, rounds in found.items():
        totals = sorted(sum(seconds.values()) for seconds in rounds)
        median, edges = statistics.median(totals), len(sizes[cells].edges)
        stages = [f"{statistics.median(seconds[stage] for seconds in rounds):.2f}" for stage in STAGES]
        spread = f"{median:.2f} ({totals[0]:.2f}-{totals[-1]:.2f})"
        size = f"{len(sizes[cells]):,} | {edges:,}"
        print(f"| {cells} | {size} | {spread} | {1000 * median / edges:.3f} | {' | '.join(stages)} |")


if __name__ == "__main__":
    main()
