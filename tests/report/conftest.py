"""Fixtures: report pages and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests import browser as browsers
from tests.report.runs import OWN_SWITCHES, searched


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with browsers.running() as found:
        yield found


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a search of the shipped quickstart space."""
    return searched(tmp_path_factory.mktemp("runs") / "quickstart")


@pytest.fixture(scope="session")
def own_switches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder for a space in which every use of a motif has its own switches."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "two.nas").write_text(OWN_SWITCHES)
    return searched(folder / "two", folder / "two.nas")
