"""The settings of training and of `eval`. The defaults are the DARTS recipe for CIFAR-10."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from bayesnas_graph.runs.config.groups import (
    DEVICE,
    MOST_PIXELS,
    RUN,
    Count,
    DataSettings,
    Flag,
    FusionSettings,
    Group,
    Kept,
    MachineSettings,
    NotNegative,
    Part,
    PathSettings,
    Positive,
    WeightSettings,
)


class Aids(Group):
    """Aids to training that are not part of the trained network."""

    title: ClassVar[str] = "Aids to training"

    auxiliary: Annotated[NotNegative, Flag(RUN)] = Field(
        0.0, description="weight of an auxiliary head's loss (0: no auxiliary head)"
    )
    auxiliary_at: str | None = Field(None, description="input of the auxiliary head: name of an operation or a motif")
    ema: Part = Field(0.0, description="decay of the running mean of the weights (0: no running mean)")


class Epochs(Group):
    """Length of training."""

    title: ClassVar[str] = "Length of training"

    epochs: Annotated[Count, Flag(RUN)] = Field(600, description="number of epochs")


class TrainConfig(Kept, FusionSettings, MachineSettings, Aids, PathSettings, WeightSettings, Epochs, DataSettings):
    """All settings of training. A settings file has these keys, and `-s key=value` sets one."""

    verb: ClassVar[str] = "train"

    crop: int = Field(4, ge=0, le=MOST_PIXELS, description="pixels of padding for random crops")
    flip: bool = Field(True, description="flip half of the images horizontally")
    cutout: int = Field(16, ge=0, le=MOST_PIXELS, description="side of the square that is blanked out in every image")
    batch: Annotated[Count, Flag(RUN)] = Field(96, description="samples per step, over all processes")
    rate: Annotated[Positive, Flag(RUN)] = Field(0.025, description="initial learning rate")
    weight_decay: NotNegative = Field(3e-4, description="weight decay")
    final_rate: Part = Field(0.0, description="final learning rate as a fraction of `rate`")
    drop_path: Annotated[Part, Flag(RUN)] = Field(0.2, description="final probability of dropping a path for a sample")
    compile: Annotated[bool, Flag(DEVICE)] = Field(False, description="compile motifs with torch.compile")
    log_steps: Count = Field(20, description="steps between updates of the displayed loss")
    checkpoint_steps: Count = Field(500, description="steps between checkpoints; every epoch also ends with one")


class EvalConfig(MachineSettings, DataSettings):
    """All settings of `eval`."""

    verb: ClassVar[str] = "eval"

    data: Annotated[str | None, Flag()] = Field(None, description="data set (default: that of the run)")
    pad: Annotated[int, Flag()] = Field(0, ge=0, description="black pixels added on every side of an image")
    batch: Annotated[Count, Flag()] = Field(64, description="images per batch when accuracy is measured")
    seed: Annotated[int, Flag()] = Field(0, ge=0, lt=2**31, description="random seed of generated data")
    compile: bool = Field(False, description="not used by `eval`")
    memory_limit: str | None = Field(None, description="not used by `eval`")
    recompute: bool = Field(False, description="not used by `eval`")
