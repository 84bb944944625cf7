"""Shared fixtures."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded: tests run beside each other, and must not fight for cores

import pytest
from hypothesis import HealthCheck, settings

# Quick by default; `HYPOTHESIS_PROFILE=long` looks ten times as far.
settings.register_profile("ci", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("ci"), max_examples=600)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
LONG = 10 if settings.get_current_profile_name() == "long" else 1  # for tests that say how many examples they need

ROOT = Path(__file__).parent.parent
SPACES = sorted((ROOT / "spaces").glob("*.nas"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected outputs; read the diff after")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
