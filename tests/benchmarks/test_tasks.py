"""The spaces and the data of the small runs in docs/tasks.md fit one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph.data import load
from bayesnas_graph.runs.loading import check_network_fits
from benchmarks.tasks import SPACES
from tests.helpers import formatted, network


@pytest.mark.parametrize("name", SPACES)
def test_spaces_fit_their_data(name: str) -> None:
    assert formatted(SPACES[name]) == SPACES[name]
    data = load(f"benchmarks.tasks:{name}", Path("data"))
    check_network_fits(network(SPACES[name]), data)
    assert not data.warnings
