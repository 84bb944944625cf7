"""What a compression has come to, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bayesnas_graph.runs.reading.compression import LAYER_HEAD, latency_cells, layer_cells

if TYPE_CHECKING:
    from bayesnas_graph.train.compress.run import CompressOutcome, NetworkSummary


def summary(outcome: CompressOutcome) -> Iterator[str]:
    """The network before and after in a table, and one of its layers."""
    networks = {"whole": outcome.whole, "left": outcome.left}
    if outcome.baseline is not None:
        networks["by magnitude"] = outcome.baseline
    columns = [_column(found) for found in networks.values()]
    yield from aligned(
        [["", *networks], *([label, *(column.get(label, "") for column in columns)] for label in columns[0])]
    )
    yield ""
    yield from aligned([LAYER_HEAD, *map(layer_cells, outcome.layers)])


def _column(found: NetworkSummary) -> dict[str, str]:
    return {
        "widths": found.widths,
        "error": f"{100 * (1 - found.score.accuracy):.2f} %",
        "weights": f"{found.size.parameters:,}",
        "multiply-adds": f"{found.size.flops:,}",
        "operations": f"{found.size.operations:,}",
        **dict(latency_cells(one.batch, one.median) for one in found.latencies),
    }


def aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows in columns, of which those of a width that differs are told apart by two spaces."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
