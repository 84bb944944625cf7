"""Groups of settings: types, defaults, descriptions, and command-line flags.

Every kind of run combines the groups it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from bayesnas_graph.diagnostics.memory import parse_memory
from bayesnas_graph.diagnostics.plugins import STRATEGY_PLUGINS, find_plugin, installed_plugins
from bayesnas_graph.ir.literals import Estimator, Ranking, Reach
from bayesnas_graph.passes import Mode
from bayesnas_graph.runs.strategies import STRATEGIES

LARGEST = 1e30  # of any setting; a tensor can hold it

Positive = Annotated[float, Field(gt=0, le=LARGEST, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]
Part = Annotated[float, Field(ge=0, lt=1)]
Alpha = Annotated[float, Field(ge=0, le=1000)]  # of a beta distribution
Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Plain = int | float | bool | str

MOST_THREADS = 256
MOST_PIXELS = 10_000  # of a border or a square
LARGEST_INTEGER = 10**15  # of any setting


def _known(name: str) -> str:
    if name not in STRATEGIES and find_plugin(STRATEGY_PLUGINS, name) is None:
        added = (plugin.name for plugin in installed_plugins(STRATEGY_PLUGINS))
        *others, last = (f"`{strategy}`" for strategy in dict.fromkeys((*STRATEGIES, *added)))
        raise ValueError(f"should be {', '.join(others)} or {last}")
    return name


RUN, PRIOR, DEVICE = "Run", "Gates and prior", "Device"  # headings in `--help`


@dataclass(frozen=True)
class Flag:
    """Makes a setting a command-line option: `lambda_zero` becomes `--lambda-zero`."""

    panel: str | None = None  # heading in `--help`
    size: bool = False  # accepts `20K` or `1.5M`
    choices: tuple[str, ...] = ()  # values that a shell completes, if the type does not list them
    plugins: str | None = None  # group of plug-ins that add values


def _a_size(text: str) -> str:
    parse_memory(text)
    return text


def _code(text: str) -> str:
    module, _, function = text.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
        raise ValueError("should be `package.module:function`")
    return text


Code = Annotated[str, AfterValidator(_code)]
StrategyName = Annotated[str, AfterValidator(_known)]


class Group(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)

    verb: ClassVar[str] = "search"  # the command that takes these settings
    title: ClassVar[str] = ""  # heading in `--settings`

    @field_validator("*")
    @classmethod
    def _bounded(cls, value: Any) -> Any:
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            raise ValueError("should be less than 10^15")
        return value

    def to_plain(self) -> dict[str, Any]:
        """Return the values by their keys in a settings file, without those that are None."""
        return self.model_dump(by_alias=True, exclude_none=True)


class DataSettings(Group):
    """Network and data."""

    title: ClassVar[str] = "Network and data"

    network: Annotated[Name | None, Flag()] = Field(None, description="network to use (default: the first in the file)")
    parameters: dict[str, int | float | bool | str | list[int | float | bool | str]] = Field(
        {}, description="values of the network's parameters"
    )
    data: Annotated[Name | None, Flag()] = Field(None, description="data set; `bayesnas-graph data list` lists them")
    pad: int = Field(0, ge=0, le=MOST_PIXELS, description="black pixels added on every side of an image")
    crop: int = Field(0, ge=0, le=MOST_PIXELS, description="pixels of padding for random crops")
    flip: bool = Field(False, description="flip half of the images horizontally")
    cutout: int = Field(0, ge=0, le=MOST_PIXELS, description="side of the square that is blanked out in every image")
    augment: Code | None = Field(None, description="Python code that changes images: `package.module:function`")
    resized_crop: Part = Field(0.0, description="smallest share of an image that is enlarged to all of it (0: off)")
    jitter: float = Field(0.0, ge=0, le=1, description="strength of random changes of colours (0: off)")
    rand_augment: int = Field(0, ge=0, le=100, description="number of random operations on every image (0: off)")
    rand_magnitude: float = Field(9.0, ge=0, le=10, description="strength of the random operations")
    mixup: Alpha = Field(0.0, description="mix batches with themselves: alpha of the distribution of shares (0: off)")
    cutmix: Alpha = Field(0.0, description="put boxes of other images into images: alpha of their areas (0: off)")
    batch: Annotated[Count, Flag(RUN)] = Field(64, description="samples per step, over all processes")
    accumulate: Count = Field(1, description="parts of a batch whose gradients are accumulated")
    workers: int = Field(
        0, ge=0, le=MOST_THREADS, description="processes that load images from folders and custom data sets"
    )
    data_share: float = Field(
        0.25, ge=0, le=1, description="share of the free memory of a GPU that data may take to stay there (0: none)"
    )

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.batch % self.accumulate:
            raise ValueError(f"`accumulate` is {self.accumulate}, which does not divide `batch`, {self.batch}")
        return self


class LengthSettings(Group):
    """Length of a search."""

    title: ClassVar[str] = "Length of a search"

    held_out: Part = Field(0.2, gt=0, description="fraction of the training set held out from weight training")
    iterations: Annotated[Count, Flag(RUN)] = Field(10, description="maximum number of prior updates")
    steps: Annotated[Count | None, Flag(RUN)] = Field(
        None, description="training steps per iteration (default: one epoch)"
    )
    warmup: Annotated[int | None, Flag(RUN)] = Field(
        None, ge=0, description="steps before the gates start to move (default: one epoch)"
    )
    finalists: Annotated[int, Flag(RUN)] = Field(
        0, ge=0, le=10_000, description="architectures to train from scratch and compare at the end"
    )
    finalist_steps: Count | None = Field(
        None, description="training steps per finalist (default: a quarter of the steps of the search)"
    )
    compare_random: Annotated[int, Flag(RUN)] = Field(
        0, ge=0, le=1000, description="random architectures to train from scratch, to compare with the result"
    )
    finish: int | None = Field(
        None, ge=0, description="weight-training steps after the last update (default: same as `steps`)"
    )
    stable: int = Field(3, ge=0, description="stop after this many iterations without a change (0: never)")
    stop_at_budget: bool = Field(
        True, description="end with an architecture that meets the network's `require` clauses"
    )


class WeightSettings(Group):
    """Training of the weights."""

    title: ClassVar[str] = "Training of the weights"

    optimiser: Literal["sgd", "adamw"] = Field("sgd", description="optimiser of the weights")
    rate: Positive = Field(0.05, description="learning rate of the weights")
    momentum: Part = Field(0.9, description="momentum of SGD")
    nesterov: bool = Field(False, description="Nesterov momentum of SGD")
    weight_decay: NotNegative = Field(3e-4, description="weight decay; not applied to gates")
    schedule: Literal["cosine", "linear", "step", "constant"] = Field("cosine", description="learning-rate schedule")
    final_rate: Part = Field(0.05, description="final learning rate as a fraction of `rate`")
    rate_warmup: int = Field(0, ge=0, description="steps over which the learning rate rises to `rate`")
    clip: NotNegative = Field(5.0, description="maximum gradient norm (0: no clipping)")
    label_smoothing: Part = Field(0.0, description="label smoothing")


class PathSettings(Group):
    """Regularisation by dropped paths."""

    title: ClassVar[str] = "Regularisation by dropped paths"

    drop_path: Part = Field(0.0, description="probability of dropping a candidate for a sample")


class PriorSettings(Group):
    """Gates and their prior."""

    title: ClassVar[str] = "Gates and their prior"

    lambda_w: Annotated[Positive, Flag(PRIOR)] = Field(
        0.05, alias="lambda", description="penalty on operations; larger values give smaller networks"
    )
    lambda_zero: Annotated[Positive | None, Flag(PRIOR)] = Field(
        None, description="penalty on zero switches (default: same as `lambda`)"
    )
    gate_rate: Positive = Field(0.1, description="learning rate of the gates")
    gates_on: Literal["train", "held_out"] | None = Field(
        None, description="samples that train the gates: `train` or `held_out` (default: chosen by the strategy)"
    )
    curvature: Annotated[Estimator, Flag(PRIOR)] = Field("fisher", description="curvature estimator")
    curvature_batches: Count = Field(10, description="held-out batches used to estimate curvature")
    draws: Count = Field(1, le=10_000, description="labels drawn per sample by the `fisher` estimator")
    dependency: Annotated[Reach, Flag(PRIOR)] = Field(
        "one_hop", description="how far closing a switch affects the switches after it"
    )
    zero: Annotated[Literal["before", "after"], Flag(PRIOR)] = Field(
        "after", description="position of the zero switch, `before` or `after` the candidates"
    )
    mode: Annotated[Mode, Flag(PRIOR)] = Field(
        "written",
        description="switches are shared by uses of a cell (`written`), of any motif (`proxy`), or not (`proxyless`)",
    )
    gauge: Annotated[Literal["node", "none"], Flag(PRIOR)] = Field(
        "node", description="whether the gates into a node keep their norm"
    )
    unit: Annotated[Literal["contribution", "rms", "gate"], Flag(PRIOR)] = Field(
        "contribution",
        description="prior on the varying part of a gate's `contribution`, on all of it (`rms`), or on the `gate`",
    )
    ranking: Ranking = Field("relevance", description="score that decides which switches close first")


class StrategySettings(Group):
    """The search strategy, and settings of strategies without a prior."""

    title: ClassVar[str] = "Search strategy"

    strategy: Annotated[StrategyName, Flag(PRIOR, choices=tuple(STRATEGIES), plugins=STRATEGY_PLUGINS)] = Field(
        "bayes", description=f"search strategy: {', '.join(STRATEGIES)}"
    )
    logit_rate: Positive = Field(0.01, description="learning rate of the logits, for strategies that use them")
    samples: Count = Field(32, le=1_000_000, description="architectures that `random` compares at every update")


class TargetSettings(Group):
    """A target size in place of a fixed penalty."""

    title: ClassVar[str] = "Target size"

    target_params: Annotated[Count | None, Flag(PRIOR, size=True)] = Field(
        None, description="largest number of parameters of the architecture"
    )
    target_flops: Annotated[Count | None, Flag(PRIOR, size=True)] = Field(
        None, description="largest number of multiply-adds per sample of the architecture"
    )
    lambda_growth: float = Field(
        1.5, gt=1, le=10, description="factor on lambda after an iteration above the target (`bayesnas`, `dso`)"
    )


class MachineSettings(Group):
    """Device and reproducibility."""

    title: ClassVar[str] = "Device and reproducibility"

    seed: Annotated[int, Flag(RUN)] = Field(0, ge=0, lt=2**31, description="random seed")
    deterministic: Annotated[bool, Flag(DEVICE)] = Field(False, description="refuse nondeterministic operations")
    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], Flag(DEVICE)] = Field("auto", description="device")
    precision: Annotated[Literal["fp32", "bf16", "fp16"], Flag(DEVICE)] = Field(
        "fp32", description="floating-point precision"
    )
    memory_limit: Annotated[Annotated[str, AfterValidator(_a_size)] | None, Flag(DEVICE)] = Field(
        None, description="memory that a step may take, such as 4GiB; a batch that needs more is computed in parts"
    )
    recompute: Annotated[bool, Flag(DEVICE)] = Field(
        False, description="compute cells again in the backward pass: less memory, more time"
    )
    channels_last: bool = Field(True, description="channels-last memory format, which is faster on most devices")
    compile: Annotated[bool, Flag(DEVICE)] = Field(False, description="compile choices with torch.compile")
    threads: int = Field(0, ge=0, le=MOST_THREADS, description="number of torch threads (0: torch's default)")


class FusionSettings(Group):
    """Compilation of the network."""

    title: ClassVar[str] = "Compilation of the network"

    fuse: bool = Field(True, description="compute sibling operations together")
    fusion: Literal["auto", "measured", "table"] = Field(
        "auto",
        description="which siblings to fuse: `measured` on the device, by a fixed `table`, or `auto`: measured on GPUs",
    )


class Kept(Group):
    """Logs and checkpoints."""

    title: ClassVar[str] = "Logs and checkpoints"

    log_steps: Count = Field(20, description="steps between rows of the log")
    checkpoint_steps: Count = Field(200, description="steps between checkpoints")
    keep: Count = Field(3, description="number of checkpoints to keep, at least 2")
