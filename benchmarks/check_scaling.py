"""Time to check a file, by its length: `python -m benchmarks.check_scaling`.

Two families: many definitions that a network uses one after another, and one definition with a very long body. Sizes
alternate within each round, so that background load affects all of them; the table shows median and spread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.syntax import format_source
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.record import Record
from benchmarks.tables import spread

SIZES = (1250, 2500, 5000, 10_000, 20_000)
LINES_PER_MOTIF = 8


def many_definitions(lines: int) -> str:
    """Motifs of eight lines, each using the one before it, and a network that uses them all."""
    count = lines // LINES_PER_MOTIF
    parts = [
        f"""\
/// Number {i}.
motif m{i}(width = 8, k = {1 + 2 * (i % 3)}) {{
    in x
    node a = x : relu > conv(width, k) > bn
    node b = a : choose {{ conv(width, 3), conv(width, 5), max_pool(3) }}
    a, b -> out
}}
"""
        for i in range(count)
    ]
    chain = "\n".join(f"    h[{i}] -> h[{i + 1}] : m{i}" for i in range(count))
    return "\n".join(parts) + (
        f"\nnetwork n : image(8, 8, 8) -> image(8, 8, 8) {{\n    in x\n    node h[{count + 1}]\n"
        f"    x -> h[0]\n{chain}\n    h[{count}] -> out\n}}\n"
    )


def one_long_body(lines: int) -> str:
    """A network with a node per line, each reading the previous node and one far back."""
    body = "\n".join(
        f"    node n{i} = n{i - 1}, n{max(0, i - 50)} : choose {{ relu, tanh, conv(k = 3) }}" for i in range(1, lines)
    )
    return (
        f"network n : image(8, 8, 8) -> image(8, 8, 8) {{\n    in x\n    node n0 = x : relu\n{body}\n"
        f"    out n{lines - 1}\n}}\n"
    )


def seconds(text: str) -> tuple[float, float]:
    """The time to check a text, and the time to format it."""
    source = Source("generated.nas", text)
    start = time.process_time()
    report = Report()
    Checker(report).text(source)
    middle = time.process_time()
    assert not report.diagnostics, report.diagnostics[0]
    format_source(source, report)
    return middle - start, time.process_time() - middle


def measure(family: Callable[[int], str], rounds: int) -> Iterator[dict[str, object]]:
    """A row for each size of a family."""
    texts = [family(size) for size in SIZES]
    found: list[list[tuple[float, float]]] = [[] for _ in texts]
    for _ in range(rounds):
        for text, times in zip(texts, found, strict=True):
            times.append(seconds(text))
    for text, times in zip(texts, found, strict=True):
        check, layout = zip(*times, strict=True)
        name = family.__name__.replace("_", " ")
        yield {"family": name, "lines": text.count("\n"), "check, s": check, "fmt, s": layout}


def table(record: Record) -> str:
    parts = []
    for family in record.values("family"):
        rows = [
            [
                f"{row['lines']:,}",
                spread(row["check, s"]),
                f"{1000 * median(row['check, s']) / row['lines']:.3f}",
                f"{median(row['fmt, s']):.2f}",
            ]
            for row in record.where(family=family)
        ]
        head = ["lines", "check, s (spread)", "per 1,000 lines, s", "fmt, s"]
        parts.append(f"{family}:\n\n" + tables.table(head, rows, words=0))
    return "\n".join(parts)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    seconds(many_definitions(100))  # compiles the grammar
    record = Record.begin(options.name, command(), ["family", "lines"], settings={"rounds": options.rounds})
    for family in (many_definitions, one_long_body):
        record = record.with_rows(measure(family, options.rounds))
    finish(record, table, options)


if __name__ == "__main__":
    main()
