"""The folder of a compression."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bayesnas_graph.runs.folder import Origin, RunFolder
from bayesnas_graph.train.compress.config import CompressConfig


class CompressManifest(Origin):
    """What a compression is, as `run.json` has it."""

    kind: Literal["compress"] = "compress"
    config: CompressConfig


class CompressFolder(RunFolder):
    """Where everything about a compression is."""

    def compression(self) -> CompressManifest:
        """What the compression is. Raises NasError if this is no run of one."""
        return self.manifest_of(CompressManifest, "compress")

    @property
    def network(self) -> Path:
        """What is left, as a file of the language."""
        return self.path / "network.nas"

    @property
    def source(self) -> Path:
        """The same as Python that needs torch alone."""
        return self.path / "model.py"

    @property
    def weights(self) -> Path:
        """Its weights."""
        return self.path / "weights.safetensors"

    @property
    def loops(self) -> Path:
        """What every loop has come to."""
        return self.path / "loops.csv"

    @property
    def layers(self) -> Path:
        """What is left of every layer."""
        return self.path / "layers.json"

    def stage(self, name: str) -> Path:
        """The weights that a stage has ended with, of the network as it was then."""
        return self.path / "stages" / f"{name}.safetensors"
