"""The folder of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bayesnas_graph.runs.folder import Origin, RunFolder
from bayesnas_graph.train.config import TrainConfig


class TrainManifest(Origin):
    """What a training is, as `run.json` has it."""

    kind: Literal["train"] = "train"
    config: TrainConfig


class TrainFolder(RunFolder):
    """Where everything about a training is."""

    def training(self) -> TrainManifest:
        """What the training is. Raises NasError if this is no run of one."""
        return self.manifest_of(TrainManifest, "train")

    @property
    def weights(self) -> Path:
        """What was learnt."""
        return self.path / "weights.safetensors"

    @property
    def source(self) -> Path:
        """The network, as Python that needs torch alone."""
        return self.path / "model.py"
