"""What a search has found beside random architectures, from `comparison.json`. Loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bayesnas_graph.diagnostics.reading import read_json
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import OutputKind
from bayesnas_graph.runs.objectives import ACCURACY, OBJECTIVES, Metric
from bayesnas_graph.runs.paths import RunPaths

Size = Annotated[int, Field(ge=0, le=10**15)]
Among = Literal["requirements", "size", "any"]
NEAR = 0.2  # parts of the parameters by which architectures of about the same size may differ

_AMONG: Mapping[Among, str] = {
    "requirements": "that meet the same requirements",
    "size": "of about the same size",
    "any": "of the space",
}


class Compared(BaseModel):
    """An architecture that is trained from scratch, and its results on the test set."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    off: tuple[str, ...]  # the switches that it closes
    parameters: Size
    flops: Size
    loss: Annotated[float, Field(allow_inf_nan=False)] | None = None
    # Or another metric; None before it was measured.
    accuracy: Annotated[float, Field(le=1, allow_inf_nan=False)] | None = None
    failed: bool = False  # whether its loss exploded again and again

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do for it."""
        return self.failed or self.accuracy is not None


class Comparison(BaseModel):
    """The architecture that a search has found, and random ones that were trained in the same way."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: Literal[1] = 1
    wanted: Annotated[int, Field(ge=1, le=1000)]  # random architectures that were asked for
    among: Among  # what they have in common with the one that was found
    steps: Annotated[int, Field(ge=1, le=10**15)]  # of training, for each
    networks: Annotated[tuple[Compared, ...], Field(min_length=1, max_length=1001)]  # the first is the one found
    predicts: OutputKind = "classes"

    @property
    def metric(self) -> Metric:
        """What networks are measured by."""
        return OBJECTIVES[self.predicts].metric

    @property
    def done(self) -> int:
        """The number of architectures that are trained."""
        return sum(network.is_done for network in self.networks)

    @property
    def is_done(self) -> bool:
        """Whether all are trained."""
        return self.done == len(self.networks)

    @property
    def kind(self) -> str:
        """What the random architectures have in common with the one that was found."""
        return _AMONG[self.among]

    def replaced(self, number: int, network: Compared) -> Comparison:
        """Return the comparison with another network at a number."""
        networks = (*self.networks[:number], network, *self.networks[number + 1 :])
        return self.model_copy(update={"networks": networks})

    def to_plain(self) -> dict[str, Any]:
        """Return what `comparison.json` says, without its checksum."""
        return self.model_dump(mode="json", exclude={"predicts"} if self.predicts == "classes" else None)

    @property
    def standing(self) -> Standing | None:
        """How the architecture that was found compares with the others so far; None before it can be said."""
        found, *others = (network.accuracy for network in self.networks)
        measured = [accuracy for accuracy in others if accuracy is not None]
        return None if found is None or not measured else Standing(found, tuple(measured))

    def text(self) -> str:
        """Return the result in one line."""
        of = self.standing
        if of is None:
            return f"{self.done:,} of {counted(len(self.networks), 'architecture')} trained"
        count = len(of.others)
        text, name = self.metric.text, "" if self.metric.is_share else f"{self.metric.name} "
        accuracies = f"{text(of.mean)} on average, {text(min(of.others), unit=False)} to {text(max(of.others))}"
        if count == 1:
            accuracies = text(of.mean)
        return (
            f"found {name}{text(of.found)}; {counted(count, 'random architecture')} {self.kind}: {accuracies}; "
            f"rank {of.rank} of {count + 1}"
        )


@dataclass(frozen=True)
class Standing:
    """The accuracy that was found, and those of random architectures."""

    found: float
    others: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the random architectures."""
        return fmean(self.others)

    @property
    def rank(self) -> int:
        """The rank of the architecture that was found: 1 is the best. Among equals, it counts as the last."""
        return 1 + self.at_least_as_good

    @property
    def at_least_as_good(self) -> int:
        """The number of random architectures that are at least as accurate."""
        return sum(accuracy >= self.found for accuracy in self.others)


def percent(share: float, *, unit: bool = True) -> str:
    """Format an accuracy in percent.

    >>> percent(0.93128), percent(1, unit=False)
    ('93.1 %', '100.0')
    """
    return ACCURACY.text(share, unit=unit)


def parse_comparison(content: object) -> Comparison:
    """Return the comparison that a JSON document describes. Raises ValueError if it is anything else."""
    if not isinstance(content, dict) or not isinstance(content.get("networks"), list):
        raise ValueError("not a comparison")
    networks = [
        {**network, "off": tuple(network["off"])}
        if isinstance(network, dict) and isinstance(network.get("off"), list)
        else network
        for network in content["networks"]
    ]
    return Comparison.model_validate({**content, "networks": tuple(networks)})


def read_comparison(paths: RunPaths) -> Comparison | None:
    """Read `comparison.json`; None if it is missing or cannot be read."""
    try:
        return parse_comparison(read_json(paths.comparison))
    except (OSError, ValueError):
        return None
