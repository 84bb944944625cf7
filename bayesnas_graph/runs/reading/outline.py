"""The facts about a search known before its first step, as plain values for displays and reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

from bayesnas_graph.diagnostics.checksums import checked, with_checksum
from bayesnas_graph.diagnostics.reading import parse_json
from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.ir import Graph, Kind, switch_text
from bayesnas_graph.runs.strategies import DEFAULT, strategy_info

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from bayesnas_graph.runs.config.search import SearchConfig

USUAL: Mapping[str, Kind] = {"zero": "zero", "optional": "optional"}  # by operation, if `outline.json` has no kind


@dataclass(frozen=True, slots=True)
class OutlineSwitch:
    """A switch, named as in the space."""

    name: str
    part: str  # the cell that contains it, or else the motif or network
    choice: str  # its place: `h[1] <- entry`
    operation: str  # the candidate; `zero` for a whole choice
    kind: Kind = "candidate"

    @property
    def text(self) -> str:
        """Its readable name."""
        return switch_text(self.part, self.choice, self.operation)

    @property
    def is_zero(self) -> bool:
        """Whether it closes all candidates of its choice at once."""
        return self.kind == "zero"


@dataclass(frozen=True)
class Outline:
    """The space, data and length of a search."""

    space: str
    network: str
    data: str
    device: str
    seed: int
    warmup: int  # steps
    steps: int  # of an iteration
    iterations: int  # at most; once the architecture is final, the actual number
    finish: int  # final steps for the weights of the architecture
    switches: tuple[OutlineSwitch, ...]
    parameters: int  # of all candidates together
    flops: int
    wanted: tuple[str, ...]  # target sizes
    strategy: str = DEFAULT
    finalists: int = 0  # architectures trained and compared at the end; once one is selected, the actual number
    finalist_steps: int = 0  # of each, and of each architecture that is compared with the result
    compared: int = 0  # architectures that are trained afterwards, to compare them; the first is the result
    flops_at_least: bool = False  # whether some multiply-adds cannot be counted

    def __post_init__(self) -> None:
        if self.warmup < 0 or self.steps < 1 or self.iterations < bool(self.switches) or self.finish < 0:
            raise ValueError("a search has steps and iterations")
        if self.finalists < 0 or self.finalist_steps < 0 or self.compared < 0:
            raise ValueError("a search has steps and iterations")

    @property
    def flops_text(self) -> str:
        """The multiply-adds of all candidates together."""
        return at_least(self.flops, self.flops_at_least)

    @property
    def total_steps(self) -> int:
        """Steps of the whole run, unless the search stops earlier."""
        return self.search_steps + self.compared * self.finalist_steps

    @property
    def search_steps(self) -> int:
        """Steps of the search itself."""
        return self.decided_at + self.finalists * self.finalist_steps + self.finish

    @property
    def decided_at(self) -> int:
        """Steps before finalists are trained."""
        return self.warmup + self.iterations * self.steps

    @property
    def subject(self) -> str:
        """A short description of the search."""
        suffix = strategy_info(self.strategy).suffix
        return f"network {self.network} of {self.space} on {self.data}, {self.device}, seed {self.seed}{suffix}"

    def phase(self, step: int) -> str:
        """Return the phase of a step, counted from 1."""
        if self.warmup and step <= self.warmup:
            return "warm-up"
        if self.compared and step > self.search_steps:
            number = min(self.compared, ceil((step - self.search_steps) / max(1, self.finalist_steps)))
            return f"comparison {number}/{self.compared}"
        iteration = max(1, ceil((step - self.warmup) / self.steps))
        if iteration <= self.iterations:
            return f"iteration {iteration}/{self.iterations}"
        finalist = ceil((step - self.decided_at) / self.finalist_steps) if self.finalists else 1
        return "finish" if finalist > self.finalists else f"finalist {finalist}/{self.finalists}"

    def to_json(self) -> bytes:
        """Return the content of `outline.json`."""
        plain = _adapter().dump_python(self, mode="json")
        for switch in plain["switches"]:
            if switch["kind"] == USUAL.get(switch["operation"], "candidate"):
                del switch["kind"]
        return json.dumps(with_checksum(plain), separators=(",", ":"), ensure_ascii=False).encode()

    @staticmethod
    def from_json(text: bytes) -> Outline:
        """Parse the content of `outline.json`. Raises ValueError."""
        plain = checked(parse_json(text))
        outline = _adapter().validate_python(plain)
        switches = [
            switch if "kind" in found else replace(switch, kind=USUAL.get(switch.operation, "candidate"))
            for switch, found in zip(outline.switches, plain["switches"], strict=True)
        ]
        return replace(outline, switches=tuple(switches))


def targets(config: SearchConfig) -> list[str]:
    """Return the target sizes of the settings."""
    sizes = {"params": config.target_params, "flops": config.target_flops}
    return [at_most(quantity, size) for quantity, size in sizes.items() if size is not None]


def at_most(quantity: str, size: int) -> str:
    """Format a target size like a `require` clause.

    >>> at_most("params", 20_000)
    'params <= 20,000'
    """
    return f"{quantity} <= {size:,}"


def unmet(result: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Return the requested sizes that were not met, according to `result.json` and the settings in `run.json`."""
    sizes = {"params": ("target_params", "parameters"), "flops": ("target_flops", "flops")}
    above = [
        at_most(quantity, size)
        for quantity, (target, key) in sizes.items()
        if isinstance(size := settings.get(target), int) and result[key] > size
    ]
    return [*result["unmet"], *above]


def switches_of(graph: Graph) -> Iterator[OutlineSwitch]:
    """Yield the switches of a graph in order, each once."""
    for group, gate in graph.switches.items():
        yield OutlineSwitch(group, gate.part, gate.place, gate.operation, gate.kind)


@cache
def _adapter() -> TypeAdapter[Outline]:
    from pydantic import TypeAdapter

    return TypeAdapter(Outline)
