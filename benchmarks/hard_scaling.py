"""Time of texts and graphs that are hard on a compiler, by size: `python -m benchmarks.hard_scaling`.

Thousands of unknown names, files of comments, long chains, many choices in a row, cells in which every node reads all
others, and cells in which every node must keep two inputs. Each stage should take time in proportion to the size. Sizes
alternate within each round; the table shows medians.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes.analysis import cost, extremes, networks, switches
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.measure import now
from benchmarks.record import Record

STAGES = ("check", "graph", "stats", "passes", "emit")


@dataclass(frozen=True)
class Case:
    """A kind of text, with sizes that double."""

    text: Callable[[int], str]
    sizes: tuple[int, ...]
    unit: str


def network(*lines: str) -> str:
    return "\n".join(("network n : image(8, 8, 8) -> image(8, 8, 8) {", "in x", *lines, "}\n"))


def unknown_names(count: int) -> str:
    return "".join(f"let a{i} = b{i}\n" for i in range(count)) + network("x -> out : relu")


def comments(count: int) -> str:
    return "// nothing here, and nothing there\n" * count + network("x -> out : relu")


def chain(count: int) -> str:
    hundred = f"motif hundred {{ in x  x -> out : {' > '.join(['relu'] * 100)} }}\n"
    steps = f"for i in 1..{count // 100} {{ h[i - 1] -> h[i] : hundred }}"
    return hundred + network(f"node h[{count // 100}]", "x -> h[0] : hundred", steps, f"out h[{count // 100 - 1}]")


def choices(count: int) -> str:
    step = "h[i] -> h[i + 1] : choose 1 { conv(8, 3), conv(8, 1), relu }"
    return network(f"node h[{count + 1}]", "x -> h[0]", f"for i in 0..{count} {{ {step} }}", f"out h[{count}]")


def dense_cell(count: int) -> str:
    edges = "for j in 0..i { h[j] -> h[i] : choose { conv(8, 1), relu } }"
    return network(f"node h[{count}]", "x -> h[0]", f"for i in 1..{count} {{ {edges} }}", f"out h[{count - 1}]")


def two_inputs(count: int) -> str:
    """Cells in a row in which every node keeps two inputs; all cells share their switches."""
    cell = """cell c {
        in x, y
        node h[5]
        for j in 0..5 {
            x, y, h[0..j] -> h[j] : choose 1 { conv(k = 3) > bn, conv(k = 5) > bn, max_pool(3), identity }
            require inputs(h[j]) == 2
        }
        concat(h) -> out : conv(channels(x), 1)
    }
    """
    steps = f"for i in 0..{count} {{ c(h[i], h[i + 1]) -> h[i + 2] }}"
    return cell + network(f"node h[{count + 2}]", "x -> h[0]", "x -> h[1]", steps, f"out h[{count + 1}]")


CASES = {
    "unknown names": Case(unknown_names, (1000, 2000, 4000), "names"),
    "comments": Case(comments, (25_000, 50_000, 100_000), "lines"),
    "a chain": Case(chain, (25_000, 50_000, 100_000), "edges"),
    "choices in a row": Case(choices, (500, 1000, 2000), "edges"),
    "a dense cell": Case(dense_cell, (15, 30, 60), "edges"),
    "two inputs per node": Case(two_inputs, (5, 10, 20), "edges"),
}


def seconds(text: str) -> tuple[int, dict[str, float]]:
    """The number of edges, and the seconds of each stage; only of the first if there are errors."""
    marks = [now()]
    report = Report()
    space = Checker(report).text(Source("generated.nas", text))
    marks.append(now())
    edges = 0
    if not report.has_errors:
        graph = space.networks[0].graph()
        edges = len(graph.edges)
        marks.append(now())
        switches(graph), networks(graph), cost(graph), extremes(graph)
        marks.append(now())
        compiled = passes.run(graph, (*passes.SWITCHES, *passes.FASTER))
        marks.append(now())
        emit(compiled)
        marks.append(now())
    return edges, dict(zip(STAGES, (after - before for before, after in pairwise(marks)), strict=False))


def table(record: Record) -> str:
    rows = []
    for row in record.rows:
        times = {stage: median(row[stage]) for stage in STAGES if stage in row}
        each = 1000 * sum(times.values()) / row["count"]
        shown = [f"{times[stage]:.2f}" if stage in times else "" for stage in STAGES]
        rows.append([row["case"], f"{row['size']:,}", f"{row['count']:,} {row['unit']}", *shown, f"{each:.3f}"])
    return tables.table(["case", "size", "count", *(f"{stage}, s" for stage in STAGES), "per 1,000, s"], rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    seconds(choices(3))  # compiles the grammar
    record = Record.begin(options.name, command(), ["case", "size"], settings={"rounds": options.rounds})
    for name, case in CASES.items():
        texts = {size: case.text(size) for size in case.sizes}
        found: dict[int, list[dict[str, float]]] = {size: [] for size in texts}
        edges: dict[int, int] = {}
        for _ in range(options.rounds):
            for size, text in texts.items():
                edges[size], times = seconds(text)
                found[size].append(times)
        for size, rounds in found.items():
            count = edges[size] if case.unit == "edges" else size
            stages = {stage: [one[stage] for one in rounds] for stage in rounds[0]}
            record = record.with_rows([{"case": name, "size": size, "count": count, "unit": case.unit, **stages}])
    finish(record, table, options)


if __name__ == "__main__":
    main()
