"""Every setting of a compression run."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from bayesnas_graph.runs.config.groups import (
    DEVICE,
    RUN,
    Count,
    DataSettings,
    Flag,
    Group,
    Kept,
    MachineSettings,
    NotNegative,
    Part,
    Positive,
    WeightSettings,
)
from bayesnas_graph.runs.config.train import TrainConfig

REMOVAL = "What to remove"


class Stages(Group):
    """Length of each stage."""

    title: ClassVar[str] = "Length of each stage"

    epochs: Annotated[int, Flag(RUN)] = Field(20, ge=0, description="epochs of training before anything is removed")
    loops: Annotated[Count, Flag(RUN)] = Field(20, description="maximum number of prior updates, each with removals")
    loop_epochs: Count = Field(1, description="epochs of training under the penalty before each update")
    loop_rate: Positive = Field(0.02, description="learning rate under the penalty")
    fine_epochs: Annotated[int, Flag(RUN)] = Field(20, ge=0, description="epochs of fine-tuning after the last removal")
    fine_rate: Positive | None = Field(None, description="initial learning rate of fine-tuning (default: `rate`)")


PATTERNS = {
    "conv": "filter,channel",
    "depthwise": "filter",
    "conv1d": "filter,channel",
    "depthwise1d": "filter",
    "linear": "row,column",
}


class Removal(Group):
    """What to remove, and how much."""

    title: ClassVar[str] = "What to remove, and how much"

    patterns: dict[str, str] = Field(PATTERNS, description="groups of weights, by kind or name of layer")
    lambda_w: Annotated[Positive | None, Flag(REMOVAL)] = Field(
        None, alias="lambda", description="strength of the penalty (default: 0.1 / number of samples)"
    )
    lambda_growth: float = Field(1.0, ge=1, le=10, description="factor on lambda after every loop")
    prune: Literal["removal", "entropy", "zero"] = Field(
        "removal", description="remove groups that cost little (`removal`), have no `entropy`, or are `zero`"
    )
    tolerance: NotNegative = Field(
        0.005, description="fraction of the loss that the removals of one loop may cost, for `removal`"
    )
    held_out: Part = Field(0.1, gt=0, description="fraction of the training set used to measure curvature")
    curvature_batches: Count = Field(50, description="held-out batches used to estimate curvature")
    target_operations: Annotated[Count | None, Flag(REMOVAL, size=True)] = Field(
        None, description="stop at this many additions and multiplications"
    )
    target_params: Annotated[Count | None, Flag(REMOVAL, size=True)] = Field(
        None, description="stop at this many parameters"
    )

    @field_validator("patterns")
    @classmethod
    def _with_defaults(cls, patterns: dict[str, str]) -> dict[str, str]:
        """Return the patterns, with defaults for other kinds of layers."""
        return PATTERNS | patterns


class CompressConfig(Kept, MachineSettings, Removal, WeightSettings, Stages, DataSettings):
    """All settings of a compression run. A settings file has these keys, and `-s key=value` sets one."""

    verb: ClassVar[str] = "compress"

    data: Annotated[str | None, Flag()] = Field(None, description="data set (default: that of the run)")
    batch: Annotated[Count, Flag(RUN)] = Field(128, description="samples per step, over all processes")
    weight_decay: NotNegative = Field(1e-4, description="weight decay; not applied under the penalty")
    final_rate: Part = Field(0.0, description="final learning rate as a fraction of `rate`")
    compile: Annotated[bool, Flag(DEVICE)] = Field(False, description="compile motifs with torch.compile")
    log_steps: Count = Field(20, description="steps between updates of the displayed loss")
    checkpoint_steps: Count = Field(500, description="steps between checkpoints; every epoch also ends with one")
    rival: Annotated[bool, Flag(REMOVAL)] = Field(
        False, description="also remove as much by magnitude, and train that network for comparison"
    )

    @property
    def dense(self) -> TrainConfig:
        """Settings of training before anything is removed."""
        return self._training(epochs=max(1, self.epochs))

    def loop(self, number: int) -> TrainConfig:
        """Settings of training under the penalty, which replaces weight decay. Every loop has its own seed."""
        from bayesnas_graph.runs.seeds import mixed  # loads torch

        changes = {"rate": self.loop_rate, "schedule": "constant", "rate_warmup": 0, "weight_decay": 0.0}
        return self._training(epochs=self.loop_epochs, seed=mixed(self.seed, "loop", number) % 2**31, **changes)

    def fine(self, epochs: int) -> TrainConfig:
        """Settings of fine-tuning."""
        return self._training(epochs=epochs, rate=self.fine_rate or self.rate)

    def _training(self, **changes: object) -> TrainConfig:
        # Weights are shrunk and masked layer by layer, so sibling layers must not be fused.
        shared = set(CompressConfig.model_fields) & set(TrainConfig.model_fields)
        return TrainConfig(**(self.model_dump(include=shared) | {"fuse": False, "drop_path": 0.0} | changes))
