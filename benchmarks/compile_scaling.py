"""Time to compile, by the size of the graph: `python -m benchmarks.compile_scaling`.

From text to torch module: parse, check, elaborate, run all passes with their checks, emit, execute. The spaces are the
search network of DARTS with different numbers of cells. Sizes alternate within each round; the table shows median and
spread.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median

import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.measure import now
from benchmarks.record import Record
from benchmarks.tables import spread

CELLS = (1, 2, 4, 8, 20)
SIZES = ("cells", "operations", "edges")
STAGES = ("check", "graph", "passes", "emit", "build")
SPACE = """
import "darts.nas"
network search : image(3, 32, 32) -> classes(10) {{
    in x
    out backbone(normal, reduction, 4, {cells}, affine = false)(x)
}}
"""


def measure(text: str, folder: Path) -> tuple[Graph, dict[str, float]]:
    """The elaborated graph of a text, and the seconds of each stage."""
    marks = [now()]
    space = Checker(Report()).text(Source(str(folder / "generated.nas"), text))
    (network,) = (found for found in space.networks if found.name == "search")
    marks.append(now())
    graph = network.graph()
    marks.append(now())
    compiled = passes.run(graph, (*passes.SWITCHES, *passes.FASTER))
    marks.append(now())
    program = emit(compiled)
    marks.append(now())
    build(program)
    marks.append(now())
    return graph, dict(zip(STAGES, (after - before for before, after in pairwise(marks)), strict=True))


def table(record: Record) -> str:
    rows = []
    for row in record.rows:
        totals = [sum(stages) for stages in zip(*(row[stage] for stage in STAGES), strict=True)]
        rows.append(
            [
                *(f"{row[size]:,}" for size in SIZES),
                spread(totals),
                f"{1000 * median(totals) / row['edges']:.3f}",
                *(f"{median(row[stage]):.2f}" for stage in STAGES),
            ]
        )
    return tables.table([*SIZES, "seconds (spread)", "per 1,000 edges", *STAGES], rows, words=0)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    folder = Path(__file__).parent.parent / "spaces"
    texts = {cells: SPACE.format(cells=cells) for cells in CELLS}
    measure(texts[CELLS[0]], folder)  # loads torch
    found: dict[int, list[dict[str, float]]] = {cells: [] for cells in texts}
    graphs: dict[int, Graph] = {}
    for _ in range(options.rounds):
        for cells, text in texts.items():
            graphs[cells], seconds = measure(text, folder)
            found[cells].append(seconds)
    record = Record.begin(options.name, command(), ["cells"], settings={"rounds": options.rounds})
    for cells, rounds in found.items():
        sizes = zip(SIZES, (cells, len(graphs[cells]), len(graphs[cells].edges)), strict=True)
        record = record.with_rows([{**dict(sizes), **{stage: [one[stage] for one in rounds] for stage in STAGES}}])
    finish(record, table, options)


if __name__ == "__main__":
    main()
