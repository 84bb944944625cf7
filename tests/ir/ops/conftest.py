"""Fixtures for the tests of operations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _repeatable_and_small() -> Iterator[None]:
    """The same random numbers in every test, and one thread, because the work is small."""
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
