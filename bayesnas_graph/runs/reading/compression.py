"""Reading a compression run: its loops, the remains of every layer, and the networks it compares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.runs.layers import PrunedLayer, Share
from bayesnas_graph.runs.objectives import as_rows, metric_in
from bayesnas_graph.runs.reading.history import LARGEST
from bayesnas_graph.runs.reading.run import Numbers, RunRecord, read_numbers, read_object

_EPOCHS = ("epoch", "step", "loss", "accuracy")
_LOOPS = ("loop", "lambda", "loss", "groups", "parameters", "flops", "operations")


@dataclass(frozen=True)
class NetworkRecord:
    """A network in numbers."""

    widths: str
    parameters: int
    flops: int
    operations: int
    accuracy: float
    latency: dict[int, float]  # seconds by batch size
    flops_at_least: bool = False  # whether some multiply-adds and operations cannot be counted

    @property
    def error(self) -> float:
        """The error on the test set, in %."""
        return 100 * (1 - self.accuracy)


@dataclass(frozen=True)
class LoopRecord:
    """The result of a loop, and the error of its network after the training of the next loop, if there was one.

    A loop trains and then prunes, so its epochs belong to the network left by the previous loop.
    """

    number: int
    intensity: float  # lambda
    groups: int
    parameters: int
    flops: int
    operations: int
    error: float | None  # on the test set, in %


@dataclass(frozen=True)
class CompressionRecord:
    """A compression run, as recorded in its folder. Anything not yet written is None or empty."""

    record: RunRecord
    loops: tuple[LoopRecord, ...]
    layers: tuple[PrunedLayer, ...]
    rival_rows: tuple[Numbers, ...]  # the epochs of the baseline
    whole: NetworkRecord | None
    left: NetworkRecord | None
    rival: NetworkRecord | None
    cut: float | None  # the error of the pruned network before fine-tuning, in %


def read_compression(record: RunRecord) -> CompressionRecord:
    """Read the files that only compression runs have."""
    result = read_object(record.folder / "result.json", {}) or {}
    return CompressionRecord(
        record=record,
        loops=tuple(_loops(record)),
        layers=tuple(_layers(record.folder / "layers.json")),
        rival_rows=tuple(read_numbers(record.folder / "rival.csv", _EPOCHS)),
        whole=_network(result.get("whole")),
        left=_network(result.get("left")),
        rival=_network(result.get("rival")),
        cut=_cut(result.get("cut")),
    )


def _loops(record: RunRecord) -> Iterator[LoopRecord]:
    errors = {int(row["epoch"]): row["test_accuracy"] for row in record.rows if _is_tested(row)}
    dense, each = (_count(record.config.get(key)) for key in ("epochs", "loop_epochs"))
    by_number = {int(row["loop"]): row for row in read_numbers(record.folder / "loops.csv", _LOOPS)}
    for number, row in sorted(by_number.items()):
        following = number + 1 in by_number and each > 0
        accuracy = errors.get(dense + (number + 1) * each) if following else None
        yield LoopRecord(
            number=number,
            intensity=row["lambda"],
            groups=int(row["groups"]),
            parameters=int(row["parameters"]),
            flops=int(row["flops"]),
            operations=int(row["operations"]),
            error=None if accuracy is None else 100 * (1 - accuracy),
        )


def _is_tested(row: Numbers) -> bool:
    return all(key in row and isfinite(row[key]) for key in ("epoch", "test_accuracy"))


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _layers(path: Path) -> Iterator[PrunedLayer]:
    try:
        layers = read_json(path)
    except (OSError, ValueError):
        return
    for layer in layers if isinstance(layers, list) else ():
        try:
            yield _layer(layer)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            continue


def _layer(plain: Any) -> PrunedLayer:
    return PrunedLayer(
        name=str(plain["name"]),
        kind=str(plain["kind"]),
        outputs=_share(plain["outputs"]),
        inputs=_share(plain["inputs"]),
        groups={str(pattern): _share(part) for pattern, part in plain["groups"].items()},
        zeros=_finite(plain["zeros"]),
        parameters=_share(plain["parameters"]),
        operations=_share(plain["operations"]),
    )


def _share(plain: Any) -> Share:
    return Share(int(_finite(plain["kept"])), int(_finite(plain["of"])))


def _network(found: Any) -> NetworkRecord | None:
    try:
        plain = as_rows(found, metric_in(found))
        return NetworkRecord(
            widths=str(plain["widths"]),
            parameters=int(_finite(plain["parameters"])),
            flops=int(_finite(plain["flops"])),
            operations=int(_finite(plain["operations"])),
            accuracy=_finite(plain["accuracy"]),
            latency={int(timing["batch"]): _finite(timing["median"]) for timing in plain["latency"]},
            flops_at_least=bool(plain.get("flops_at_least")),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _cut(found: Any) -> float | None:
    try:
        plain = as_rows(found, metric_in(found))
        return 100 * (1 - _finite(plain["accuracy"]))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _finite(value: Any) -> float:
    """Return a number. Raises ValueError if it is infinite, like `1e999` in JSON, or OverflowError or TypeError."""
    number = float(value)
    if not abs(number) < LARGEST:
        raise ValueError("infinite")
    return number


# ---- cells of tables


LAYER_HEAD = ("layer", "kind", "outputs", "inputs", "groups left", "zero", "parameters", "operations")


def layer_cells(layer: PrunedLayer) -> tuple[str, ...]:
    """Return a layer as cells under these headings."""
    groups = ", ".join(f"{name} {share}" for name, share in layer.groups.items())
    return (
        layer.name,
        layer.kind,
        str(layer.outputs),
        str(layer.inputs),
        "gone" if layer.is_gone else groups,
        f"{100 * layer.zeros:.1f} %",
        str(layer.parameters),
        str(layer.operations),
    )


def latency_cells(batch: int, seconds: float) -> tuple[str, str]:
    """Return the latency of a batch, with its label.

    >>> latency_cells(1, 0.0035), latency_cells(64, 0.00012)
    (('1 image', '3.5 ms'), ('64 images', '120 us'))
    """
    images = "1 image" if batch == 1 else f"{batch} images"
    return images, f"{1e3 * seconds:.1f} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.0f} us"
