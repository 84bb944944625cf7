"""Made-up runs without folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayesnas_graph.runs.reading.outline import USUAL, Outline, OutlineSwitch
from bayesnas_graph.runs.reading.run import Numbers, RunRecord

SWITCHES = tuple(
    OutlineSwitch(f"cell:{choice}.{operation}", "cell", choice, operation, USUAL.get(operation, "candidate"))
    for choice in ("h[0]", "h[1]")
    for operation in ("conv", "skip", "zero")
)


def traced(
    kind: str = "search",
    *,
    closed: tuple[str, ...] = (),
    rows: tuple[Numbers, ...] = (),
    updates: tuple[Numbers, ...] = (),
    result: dict[str, Any] | None = None,
    switches: tuple[OutlineSwitch, ...] = SWITCHES,
    **config: Any,
) -> RunRecord:
    manifest = {"space": "tiny", "network": "net", "begun": "", "kind": kind, "fingerprint": "0" * 64}
    return RunRecord(
        folder=Path("run"),
        manifest={**manifest, "config": {"data": "digits", "seed": 0, **config}},
        running=False,
        outline=_outline(switches) if kind == "search" else None,
        rows=rows,
        updates=updates,
        closed=frozenset(closed),
        checkpoint=None,
        result=result,
        heard=None,
    )


def searched(closed: tuple[str, ...] = (), **config: Any) -> RunRecord:
    """A finished search."""
    rows: tuple[Numbers, ...] = tuple(
        {"step": n, "iteration": n, "loss": 1.0, "accuracy": 0.5, "penalty": 1.0, "seconds": 0.1, "alive": 6}
        for n in (1, 2)
    )
    update = {"accuracy": 0.6, "parameters": 100.0, "flops": 1000.0, "lambda": 0.1, "seconds": 1.0}
    updates = tuple({"iteration": float(n), **update} for n in (1, 2))
    result = {"why": "all iterations are done", "parameters": 100, "flops": 1000, "accuracy": 0.75, "unmet": []}
    return traced(closed=closed, rows=rows, updates=updates, result=result, **config)


def trained(**config: Any) -> RunRecord:
    """A finished training run."""
    row = {"step": 10.0, "loss": 1.0, "accuracy": 0.5, "test_loss": 1.1, "test_accuracy": 0.4, "seconds": 1.0}
    rows = tuple({"epoch": float(n), **row} for n in (1, 2))
    return traced("train", rows=rows, result={"parameters": 90, "flops": 900, "accuracy": 0.8}, **config)


def _outline(switches: tuple[OutlineSwitch, ...]) -> Outline:
    return Outline(
        space="tiny",
        network="net",
        data="digits",
        device="cpu",
        seed=0,
        warmup=0,
        steps=1,
        iterations=2,
        finish=0,
        switches=switches,
        parameters=1000,
        flops=10000,
        wanted=(),
    )
