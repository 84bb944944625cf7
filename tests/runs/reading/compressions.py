"""A made-up run folder of a compression."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.compression import CompressionRecord, read_compression
from bayesnas_graph.runs.reading.run import read_run_record
from bayesnas_graph.train.compress.events import LOOPS
from bayesnas_graph.train.events import METRICS


def part(kept: int, of: int) -> dict[str, int]:
    return {"kept": kept, "of": of}


def layer(name: str, kept: int = 3) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "conv",
        "outputs": part(kept, 8),
        "inputs": part(kept, 4),
        "groups": {"filter": part(kept, 8), "channel": part(kept, 4)},
        "zeros": 1 - kept / 8,
        "parameters": part(kept * 9, 72),
        "operations": part(kept * 1000, 8000),
    }


def network(operations: int, accuracy: float) -> dict[str, Any]:
    size = {"parameters": operations // 2, "flops": operations // 2, "operations": operations}
    latency = [{"batch": 1, "median": 0.002, "low": 0.001, "high": 0.003}]
    return {"widths": "8-16", **size, "accuracy": accuracy, "loss": 0.1, "latency": latency}


RESULT = {
    "loops": 2,
    "accuracy": 0.96,
    "parameters": 1000,
    "flops": 1000,
    "whole": network(8000, 0.97),
    "left": network(2000, 0.96),
    "cut": {"loss": 2.0, "accuracy": 0.5},
    "rival": network(1900, 0.9),
}


def write_compression(
    folder: Path,
    *,
    seed: int = 0,
    epochs: int = 1,
    loops: int = 2,
    result: object = RESULT,
    layers: object = (layer("a.conv"), layer("b.conv", 0)),
) -> RunPaths:
    """Each loop has two epochs; the error in % after an epoch is its number."""
    folder.mkdir(exist_ok=True)
    paths = RunPaths(folder)
    config = {"data": "digits", "seed": seed, "epochs": epochs, "loops": 5, "loop_epochs": 2, "fine_epochs": 3}
    manifest = {"space": "tiny", "network": "net", "begun": "", "kind": "compress", "config": config}
    paths.manifest_file.write_text(json.dumps(manifest))
    paths.result.write_text(json.dumps(result))
    (folder / "layers.json").write_text(json.dumps(layers))
    rows = [[n, 10 * n, 0.5, 0.9, 0.6, 1 - n / 100, 0.1, 1] for n in range(1, epochs + 2 * loops + 3 + 1)]
    _table(paths.metrics, METRICS, rows)
    _table(folder / "rival.csv", METRICS, rows[:2])
    sizes = [[n, 0.1, 0.5, 100 - n, 4000 - n, 4000 - n, 8000 - 1000 * n, 1] for n in range(1, loops + 1)]
    _table(folder / "loops.csv", LOOPS, sizes)
    return paths


def compression(folder: Path, **how: Any) -> CompressionRecord:
    return read_compression(read_run_record(write_compression(folder, **how)))


def _table(path: Path, head: tuple[str, ...], rows: list[list[float]]) -> None:
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in [head, *rows]))
