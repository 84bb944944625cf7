"""Where the files of a run are. Nothing else is known here, so that a run can be looked at without torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunPaths:
    """The folder of a run and the files in it."""

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
        """The copy of the space and what it imports."""
        return self.path / "space"

    @property
    def outline(self) -> Path:
        """What was known before the first step: sizes, steps, switches."""
        return self.path / "outline.json"

    @property
    def checkpoints(self) -> Path:
        """The states it can go on from."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """Rows of the log."""
        return self.path / "metrics.csv"

    @property
    def updates(self) -> Path:
        """What every update found."""
        return self.path / "updates.csv"

    @property
    def history(self) -> Path:
        """What was known about every switch at every update."""
        return self.path / "switches.csv"

    @property
    def tensorboard(self) -> Path:
        """Events for TensorBoard, where they were asked for."""
        return self.path / "tensorboard"

    @property
    def decision(self) -> Path:
        """What was decided in the end."""
        return self.path / "decision.json"

    @property
    def architecture(self) -> Path:
        """The graph that is left."""
        return self.path / "architecture.json"

    @property
    def result(self) -> Path:
        """The outcome in a few numbers."""
        return self.path / "result.json"
