"""A made-up search for tests of the display."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.cli.display.search_state import SearchState
from bayesnas_graph.runs.reading.outline import USUAL, Outline, OutlineSwitch
from bayesnas_graph.search.budget import Shrink
from bayesnas_graph.search.events import StepRow

OPERATIONS = ("conv", "pool", "skip", "zero")


def outline(parts: int = 2, operations: tuple[str, ...] = OPERATIONS, choices: int = 3, finish: int = 0) -> Outline:
    return Outline(
        space="darts",
        network="search",
        data="cifar10",
        device="cpu",
        seed=3,
        warmup=100,
        steps=50,
        iterations=4,
        finish=finish,
        switches=tuple(
            OutlineSwitch(
                f"cell_{part}:h.{choice}.{operation}",
                f"cell_{part}",
                f"h[{choice}]",
                operation,
                USUAL.get(operation, "candidate"),
            )
            for part in range(parts)
            for choice in range(choices)
            for operation in operations
        ),
        parameters=45_650,
        flops=949_216,
        wanted=("params < 20,000",),
    )


def standing(of: Outline | None = None) -> SearchState:
    found = of or outline()
    return SearchState(
        outline=found,
        step=0,
        iteration=0,
        alive=frozenset(switch.name for switch in found.switches),
        parameters=found.parameters,
        flops=found.flops,
        intensity=0.02,
        shrink=Shrink(0.184, 0.32, able=0, open=len(found.switches)),
    )


def logged(before: SearchState, step: int = 120) -> SearchState:
    return before.logged(StepRow(step, 1, 1.5376, 0.5078, 0.82993, 0.01958, 0.1444, len(before.alive)))


def updated(before: SearchState, closed: int = 5) -> SearchState:
    """The state after the first update, which closed some switches."""
    open_ = [switch.name for switch in before.outline.switches if switch.name in before.alive]
    return replace(
        before,
        step=150,
        iteration=1,
        alive=frozenset(open_[closed:]),
        parameters=16_466,
        flops=349_216,
        shrink=Shrink(0.5, 2.0, able=7, open=len(open_) - closed),
        held_out=0.8333,
        update_seconds=1.27,
    )
