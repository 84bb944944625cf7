"""What a compression has come to, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesnas_graph.compress.report import LayerReport
    from bayesnas_graph.compress.run import Measured, Outcome


def summary(outcome: Outcome) -> Iterator[str]:
    """The network before and after in a table, and one of its layers."""
    networks = {"whole": outcome.whole, "left": outcome.left}
    if outcome.rival is not None:
        networks["by magnitude"] = outcome.rival
    columns = [_column(found) for found in networks.values()]
    yield from aligned(
        [["", *networks], *([label, *(column.get(label, "") for column in columns)] for label in columns[0])]
    )
    yield ""
    yield from aligned([_HEAD, *map(_layer, outcome.layers)])


def _column(found: Measured) -> dict[str, str]:
    return {
        "widths": found.widths,
        "error": f"{100 * (1 - found.score.accuracy):.2f} %",
        "weights": f"{found.size.parameters:,}",
        "multiply-adds": f"{found.size.flops:,}",
        "operations": f"{found.size.operations:,}",
        **{_images(one.batch): _time(one.median) for one in found.latencies},
    }


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.0f} us"


def _images(batch: int) -> str:
    return "1 image" if batch == 1 else f"{batch} images"


_HEAD = ["layer", "kind", "outputs", "inputs", "groups left", "zero", "weights", "operations"]


def _layer(layer: LayerReport) -> list[str]:
    groups = ", ".join(f"{name} {part}" for name, part in layer.groups.items())
    return [
        layer.name,
        layer.kind,
        str(layer.outputs),
        str(layer.inputs),
        "gone" if layer.is_gone else groups,
        f"{100 * layer.zeros:.1f} %",
        str(layer.parameters),
        str(layer.operations),
    ]


def aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows in columns, of which those of a width that differs are told apart by two spaces."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
