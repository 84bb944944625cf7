"""Shared fixtures."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded: parallel tests must not compete for cores

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# Quick by default, with the same examples every time, so that a change fails only for what it changed.
# `HYPOTHESIS_PROFILE=long` looks ten times as far, at other examples every time.
settings.register_profile(
    "ci", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("long", settings.get_profile("ci"), max_examples=400, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
# Hypothesis also tries constants of the modules that are loaded, which depends on the tests that ran before.
providers._get_local_constants = lambda: providers._local_constants
LONG = 10 if settings.get_current_profile_name() == "long" else 1  # for tests that say how many examples they need

# A full collection walks all of torch and every graph that tests have cached. At Python's own pace of one in ten they
# would take a quarter of the time, and young ones another fifth; no test depends on when cycles are freed.
gc.set_threshold(20_000, 20, 100)

ROOT = Path(__file__).parent.parent
SPACES = sorted((ROOT / "spaces").glob("*.nas"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected outputs; read the diff after")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def type_errors(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Run mypy on emitted files and return its complaints: "" if it has none.

    The tests share a cache that stays between runs, because reading torch takes far longer than checking a file.
    """
    cache = request.config.cache.mkdir("mypy")

    def check(*files: Path) -> str:
        # Strict as far as torch is typed: calling a module may return anything.
        options = ["--strict", "--no-warn-return-any", "--cache-dir", str(cache), "--config-file", ""]
        command = [sys.executable, "-m", "mypy", *options, *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    return check


@pytest.fixture(scope="session")
def forking_process() -> Iterator[subprocess.Popen[str]]:
    """The process that forks for every `Launcher`: one per session, because it takes seconds to load torch."""
    from tests.search.launcher import forking  # which imports this file

    with forking() as process:
        yield process
