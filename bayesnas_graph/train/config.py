"""Every setting of a training. The defaults are the recipe of DARTS for CIFAR-10."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from bayesnas_graph.runs.config import (
    Count,
    Fusing,
    Group,
    Kept,
    Machine,
    NotNegative,
    Part,
    Paths,
    Positive,
    Samples,
    Weights,
)


class Aids(Group):
    """What helps a training and is gone from the network afterwards."""

    auxiliary: NotNegative = Field(0.0, description="weight of the loss of an auxiliary head; 0 for none")
    auxiliary_at: str | None = Field(None, description="what that head reads: the name of an operation or a motif")
    ema: Part = Field(0.0, description="decay of the running mean of the weights that is kept; 0 for none")


class Epochs(Group):
    """How long a training takes."""

    epochs: Count = Field(600, description="how often every sample is seen")


class TrainConfig(Kept, Fusing, Machine, Aids, Paths, Weights, Epochs, Samples):
    """What a training is told. A file of settings has these keys, and `-s key=value` sets one."""

    verb: ClassVar[str] = "train"

    crop: int = Field(4, ge=0, description="pixels of padding from which a crop is cut at random")
    flip: bool = Field(True, description="mirror half of the images")
    cutout: int = Field(16, ge=0, description="side of a square that is blanked in every image")
    batch: Count = Field(96, description="samples in a step, over all processes")
    rate: Positive = Field(0.025, description="learning rate")
    weight_decay: NotNegative = Field(3e-4, description="of all weights")
    final_rate: Part = Field(0.0, description="the part of the rate that is left in the end")
    drop_path: Part = Field(0.2, description="chance that a path is left out for a sample, towards the end")
    compile: bool = Field(False, description="pass motifs through torch.compile")
    log_steps: Count = Field(20, description="steps between two looks at the loss")
    checkpoint_steps: Count = Field(500, description="steps between two checkpoints; an epoch ends with one, too")


class EvalConfig(Machine, Samples):
    """What is told where a network is only measured."""

    verb: ClassVar[str] = "eval"
