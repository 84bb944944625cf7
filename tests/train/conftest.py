"""Fixtures for the tests of training."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
import torch

from tests.search.launcher import Launcher
from tests.train.networks import FIXED, SHORT


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, forking_process: subprocess.Popen[str]) -> Launcher:
    """Starts the program next to a network (`fixed.nas`) and settings for a short training run (`short.toml`)."""
    folder = tmp_path_factory.mktemp("trainings")
    (folder / "fixed.nas").write_text(FIXED)
    (folder / "short.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in SHORT.items()))
    return Launcher(forking_process, folder)
