"""Fixtures for tests with damaged runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hostile.small_runs import make_runs


@pytest.fixture(scope="session")
def small_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small runs of every kind. They are only copied, never changed."""
    folder = tmp_path_factory.mktemp("runs")
    before = Path.cwd()
    os.chdir(folder)
    try:
        make_runs(folder)
    finally:
        os.chdir(before)
    return folder
