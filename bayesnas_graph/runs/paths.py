"""Where the files of a run are. Nothing else is known here, so a run can be inspected without torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunPaths:
    """A run folder and the files in it. Not every kind of run writes all of them."""

    path: Path

    @property
    def manifest_file(self) -> Path:
        """What the run is."""
        return self.path / "run.json"

    @property
    def lock(self) -> Path:
        """Held by the process that works in the folder."""
        return self.path / "lock"

    @property
    def space(self) -> Path:
        """The copy of the space and its imports."""
        return self.path / "space"

    @property
    def outline(self) -> Path:
        """What is known before the first step: sizes, steps, switches."""
        return self.path / "outline.json"

    @property
    def checkpoints(self) -> Path:
        """The states that the run can be resumed from."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """The log, as a table."""
        return self.path / "metrics.csv"

    @property
    def updates(self) -> Path:
        """The results of every update of a search."""
        return self.path / "updates.csv"

    @property
    def history(self) -> Path:
        """The state of every switch at every update."""
        return self.path / "switches.csv"

    @property
    def tensorboard(self) -> Path:
        """Events for TensorBoard, if requested."""
        return self.path / "tensorboard"

    @property
    def decision(self) -> Path:
        """The final decision about every switch."""
        return self.path / "decision.json"

    @property
    def architecture(self) -> Path:
        """The graph that a search has found."""
        return self.path / "architecture.json"

    @property
    def result(self) -> Path:
        """The outcome in a few numbers."""
        return self.path / "result.json"

    @property
    def weights(self) -> Path:
        """The final weights of a training or compression run."""
        return self.path / "weights.safetensors"

    @property
    def source(self) -> Path:
        """The final network as Python that needs only torch."""
        return self.path / "model.py"

    @property
    def network(self) -> Path:
        """A compressed network in the language."""
        return self.path / "network.nas"

    @property
    def loops(self) -> Path:
        """The results of every loop of a compression run."""
        return self.path / "loops.csv"

    @property
    def baseline(self) -> Path:
        """The epochs of the network that was pruned by magnitude for comparison."""
        return self.path / "rival.csv"

    @property
    def layers(self) -> Path:
        """What a compression run leaves of every layer."""
        return self.path / "layers.json"

    def stage(self, name: str) -> Path:
        """The weights at the end of a stage of a compression run, for the network at that time."""
        return self.path / "stages" / f"{name}.safetensors"
