"""Fixtures for the tests of compression."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.search.launcher import Launcher
from tests.train.compress.small import SMALL

# Every stage has two epochs of some steps, and checkpoints in between.
SHORT: dict[str, Any] = {
    "data": "tests.search.spaces:tiny_data",
    "batch": 40,
    "epochs": 2,
    "loops": 2,
    "loop_epochs": 2,
    "fine_epochs": 2,
    "rate": 0.05,
    "lambda": 1e-5,
    "tolerance": 3e-4,
    "crop": 1,
    "rival": True,
    "log_steps": 2,
    "checkpoint_steps": 3,
    "threads": 1,
    "seed": 1,
}


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, forking_process: subprocess.Popen[str]) -> Launcher:
    """Starts the program next to a network (`small.nas`) and settings for a short compression (`short.toml`)."""
    folder = tmp_path_factory.mktemp("compressions")
    (folder / "small.nas").write_text(SMALL)
    (folder / "short.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in SHORT.items()))
    return Launcher(forking_process, folder)
