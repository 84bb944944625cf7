"""Every setting of a search, with its default and what it may be.

Settings stand in groups. Those that are no matter of searching alone are shared with whatever else trains a network:
who needs some of them asks for their group.
"""

from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bayesnas_graph.bayes import Estimator, Ranking, Reach
from bayesnas_graph.passes import Mode

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Part = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]

# Every file there is one; they are not imported for that.
STRATEGIES = tuple(
    sorted(file.name for file in iter_modules([str(Path(__file__).parent.parent / "search" / "strategies")]))
)


def _known(name: str) -> str:
    if name not in STRATEGIES:
        *others, last = (f"`{strategy}`" for strategy in STRATEGIES)
        raise ValueError(f"should be {', '.join(others)} or {last}")
    return name


StrategyName = Annotated[str, AfterValidator(_known)]


class Group(BaseModel):
    """Some settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)

    verb: ClassVar[str] = "search"  # of the command that takes them

    def to_plain(self) -> dict[str, Any]:
        """Keys as in a file, with what was left out left out."""
        return self.model_dump(by_alias=True, exclude_none=True)


class Samples(Group):
    """What is trained, on what."""

    network: str | None = Field(None, description="which network of the space; the first if left out")
    parameters: dict[str, int | float | bool | str] = Field({}, description="values for parameters of the network")
    data: str | None = Field(None, description="a data set: see `bayesnas-graph data list`")
    pad: int = Field(0, ge=0, description="black pixels around every image")
    crop: int = Field(0, ge=0, description="pixels of padding from which a crop is cut at random")
    flip: bool = Field(False, description="mirror half of the images")
    cutout: int = Field(0, ge=0, description="side of a square that is blanked in every image")
    batch: Count = Field(64, description="samples in a step, over all processes")
    accumulate: Count = Field(1, description="parts in which the gradient of a step is computed, one after another")
    workers: int = Field(0, ge=0, description="processes that read images of folders and own data sets")

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.batch % self.accumulate:
            raise ValueError(f"`accumulate` is {self.accumulate}, which does not divide `batch`, {self.batch}")
        return self


class Length(Group):
    """How long a search takes."""

    held_out: Part = Field(0.2, gt=0, description="part of the training set that weights never see")
    iterations: Count = Field(10, description="updates of the prior at most")
    steps: Count | None = Field(None, description="steps of training in an iteration; an epoch if left out")
    warmup: int | None = Field(None, ge=0, description="steps before the gates move; an epoch if left out")
    finish: int | None = Field(None, ge=0, description="steps in the end for the weights of what is left; as `steps`")
    stable: int = Field(3, ge=0, description="iterations without a change after which to stop; 0 for never")
    stop_at_budget: bool = Field(True, description="stop when the `require` clauses of the network are met")


class Weights(Group):
    """How weights are trained."""

    optimiser: Literal["sgd", "adamw"] = Field("sgd", description="what moves the weights")
    rate: Positive = Field(0.05, description="learning rate of the weights")
    momentum: Part = Field(0.9, description="of SGD")
    weight_decay: NotNegative = Field(3e-4, description="of the weights; gates have their penalty")
    schedule: Literal["cosine", "linear", "step", "constant"] = Field("cosine", description="how the rate falls")
    final_rate: Part = Field(0.05, description="the part of the rate that is left in the end")
    rate_warmup: int = Field(0, ge=0, description="steps in which the rate rises to its full height")
    clip: NotNegative = Field(5.0, description="largest norm of a gradient; 0 for any")
    label_smoothing: Part = Field(0.0, description="part of a label that is spread over all classes")


class Paths(Group):
    """What is left out while training."""

    drop_path: Part = Field(0.0, description="chance that a candidate is left out for a sample")


class Prior(Group):
    """Gates and their prior."""

    lambda_w: Positive = Field(0.05, alias="lambda", description="intensity of the penalty on operations")
    lambda_zero: Positive | None = Field(None, description="that on zero switches; the same if left out")
    gate_rate: Positive = Field(0.1, description="learning rate of the gates")
    gates_on: Literal["train", "held_out"] | None = Field(
        None,
        description="samples that gates are trained on, `train` or `held_out`; as the strategy has it if left out",
    )
    curvature: Estimator = Field("fisher", description="how the curvature along a gate is estimated")
    curvature_batches: Count = Field(10, description="held-out batches that it is measured on")
    draws: Count = Field(1, description="labels drawn for each sample by `fisher`")
    dependency: Reach = Field("one_hop", description="how far a closed switch reaches")
    zero: Literal["before", "after"] = Field("after", description="where the zero switch of a choice stands")
    mode: Mode = Field("written", description="who shares switches: uses of a cell, of any motif, or nobody")
    gauge: Literal["node", "none"] = Field("node", description="whether gates into a node keep their norm")
    unit: Literal["contribution", "rms", "gate"] = Field(
        "contribution",
        description="what the prior is on: what varies of a gate's contribution, all of it, or the gate itself",
    )
    ranking: Ranking = Field("relevance", description="which switch is worth more, where one must go")


class Rules(Group):
    """Whose rules gates and switches follow, and what those of others than the prior need."""

    strategy: StrategyName = Field("bayes", description="by which rule gates move and switches are decided on")
    logit_rate: Positive = Field(0.01, description="learning rate of logits, in strategies that have them")
    samples: Count = Field(32, description="architectures that `random` compares at every update")


class Target(Group):
    """A size instead of an intensity."""

    target_params: Count | None = Field(None, description="weights that the architecture may have")
    target_flops: Count | None = Field(None, description="multiply-adds that it may take for a sample")
    lambda_growth: float = Field(1.5, gt=1, le=10, description="factor on lambda after an iteration above the target")


class Machine(Group):
    """Where and how it runs."""

    seed: int = Field(0, ge=0, lt=2**31, description="of everything that is random")
    deterministic: bool = Field(False, description="refuse operations that differ from run to run")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="where it runs")
    precision: Literal["fp32", "bf16", "fp16"] = Field("fp32", description="of most arithmetic")
    channels_last: bool = Field(False, description="keep channels innermost in memory, where there is a GPU")
    compile: bool = Field(False, description="pass choices through torch.compile")
    threads: int = Field(0, ge=0, description="threads of torch; 0 for its own choice")


class Fusing(Group):
    """How networks are compiled."""

    fuse: bool = Field(True, description="compute siblings together")


class Kept(Group):
    """What is kept."""

    log_steps: Count = Field(20, description="steps between two rows of the log")
    checkpoint_steps: Count = Field(200, description="steps between two checkpoints")
    keep: Count = Field(3, description="checkpoints that are kept")


class Config(Kept, Fusing, Machine, Target, Rules, Prior, Paths, Weights, Length, Samples):
    """What a search is told. A file of settings has these keys, and `-s key=value` sets one."""

    @property
    def intensities(self) -> tuple[float, float]:
        """Of the penalty on operations, and on zero switches."""
        return self.lambda_w, self.lambda_w if self.lambda_zero is None else self.lambda_zero

    def grown(self, growth: float) -> tuple[float, float]:
        """The same, on the way to a target."""
        operation, zero = self.intensities
        return operation * growth, zero * growth
