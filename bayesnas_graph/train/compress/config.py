"""Every setting of a compression."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from bayesnas_graph.runs.config import Count, Group, Kept, Machine, NotNegative, Part, Positive, Samples, Weights
from bayesnas_graph.runs.seeds import mixed
from bayesnas_graph.train.config import TrainConfig


class Stages(Group):
    """How long everything takes."""

    epochs: int = Field(20, ge=0, description="epochs of training before anything is removed")
    loops: Count = Field(20, description="updates of the prior, each followed by removals, at most")
    loop_epochs: Count = Field(1, description="epochs of training under the penalty before each of them")
    loop_rate: Positive = Field(0.02, description="learning rate under the penalty")
    fine_epochs: int = Field(20, ge=0, description="epochs of training for what is left")
    fine_rate: Positive | None = Field(None, description="learning rate for that in the beginning; `rate` if left out")


PATTERNS = {"conv": "filter,channel", "depthwise": "filter", "linear": "row,column"}


class Removal(Group):
    """What goes, and how much of it."""

    patterns: dict[str, str] = Field(PATTERNS, description="which weights go together, for kinds and names of layers")
    lambda_w: Positive | None = Field(
        None, alias="lambda", description="intensity of the penalty; 0.1 over the number of samples if left out"
    )
    lambda_growth: float = Field(1.0, ge=1, le=10, description="factor on lambda after every loop")
    prune: Literal["removal", "entropy", "zero"] = Field(
        "removal", description="which groups go: those that cost little, that have no entropy, or that are zero"
    )
    tolerance: NotNegative = Field(
        0.005, description="part of the loss that what goes in a loop may cost, for `removal`"
    )
    held_out: Part = Field(0.1, gt=0, description="part of the training set on which curvature is measured")
    curvature_batches: Count = Field(50, description="held-out batches that it is measured on")
    target_operations: Count | None = Field(None, description="additions and multiplications at which to stop")
    target_params: Count | None = Field(None, description="weights at which to stop")

    @field_validator("patterns")
    @classmethod
    def _besides(cls, given: dict[str, str]) -> dict[str, str]:
        """Who says something about some layers has not said anything about the others."""
        return PATTERNS | given


class CompressConfig(Kept, Machine, Removal, Weights, Stages, Samples):
    """What a compression is told. A file of settings has these keys, and `-s key=value` sets one."""

    verb: ClassVar[str] = "compress"

    batch: Count = Field(128, description="samples in a step, over all processes")
    weight_decay: NotNegative = Field(1e-4, description="of all weights, except under the penalty")
    final_rate: Part = Field(0.0, description="the part of the rate that is left in the end")
    log_steps: Count = Field(20, description="steps between two looks at the loss")
    checkpoint_steps: Count = Field(500, description="steps between two checkpoints; an epoch ends with one, too")
    rival: bool = Field(False, description="remove as much by magnitude, too, and train that as long, to compare")

    @property
    def dense(self) -> TrainConfig:
        """The training before anything is removed."""
        return self._training(epochs=max(1, self.epochs))

    def loop(self, number: int) -> TrainConfig:
        """That under the penalty, which takes the place of weight decay. Each sees samples in an order of its own."""
        own = {"rate": self.loop_rate, "schedule": "constant", "rate_warmup": 0, "weight_decay": 0.0}
        return self._training(epochs=self.loop_epochs, seed=mixed(self.seed, "loop", number) % 2**31, **own)

    def fine(self, epochs: int) -> TrainConfig:
        """That of what is left, for so many epochs."""
        return self._training(epochs=epochs, rate=self.fine_rate or self.rate)

    def _training(self, **own: object) -> TrainConfig:
        # Weights are shrunk and masked one layer at a time, so that layers are not computed together.
        shared = set(CompressConfig.model_fields) & set(TrainConfig.model_fields)
        return TrainConfig(**(self.model_dump(include=shared) | {"fuse": False, "drop_path": 0.0} | own))
