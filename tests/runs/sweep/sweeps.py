"""Grids, and sweeps with simulated runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesnas_graph.runs.reading.outline import Outline, OutlineSwitch
from bayesnas_graph.runs.settings import assigned
from bayesnas_graph.runs.sweep.folder import SweepFolder, SweepRequest
from bayesnas_graph.runs.sweep.grid import Point, axis, points


def grid(*texts: str, seeds: int = 1, told: Sequence[str] = ()) -> tuple[Point, ...]:
    return points([assigned(text) for text in told], [axis(text) for text in texts], seeds)


def asked(*texts: str, seeds: int = 1, **settings: Any) -> SweepRequest:
    return SweepRequest(
        space="tiny",
        file="tiny.nas",
        python_ops=False,
        data_dir="/data",
        settings=settings,
        sweep=list(texts),
        seeds=seeds,
        begun="",
        versions={},
    )


def finish(folder: SweepFolder, point: Point, kept: Sequence[str] = ("a.conv",), parameters: int = 100) -> None:
    """Write the files of a finished run into a folder."""
    run = folder.run(point)
    run.path.mkdir(parents=True, exist_ok=True)
    names = ["a.conv", "a.skip", "a.zero"]
    verdicts = [{"name": name, "keep": name in (*kept, "a.zero")} for name in names]
    found = {"parameters": parameters, "flops": 10 * parameters, "accuracy": 0.5, "kept": len(kept) + 1, "switches": 3}
    run.write_json(run.decision, {"verdicts": verdicts})
    switches = [
        OutlineSwitch("a.conv", "n", "a", "conv"),
        OutlineSwitch("a.skip", "n", "a", "skip"),
        OutlineSwitch("a.zero", "n", "a", "zero", "zero"),
    ]
    outline = Outline("s", "n", "digits", "cpu", 0, 0, 1, 1, 0, tuple(switches), parameters, 10 * parameters, ())
    run.write(run.outline, outline.to_json().decode())
    run.write_json(run.result, found | {"why": "all iterations are done"})
