"""Any input gives a result or a diagnostic: no traceback, no hang.

`HYPOTHESIS_PROFILE=long` tries ten times as many examples.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import LONG, SPACES
from tests.fuzzing import FAMILIES, answer, compile_networks


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=100 * LONG)
@given(seed=st.integers(0, 2**32))
def test_any_program(family: str, seed: int) -> None:
    answer(FAMILIES[family](Random(seed)))


@settings(max_examples=300 * LONG)
@given(st.text())
def test_any_text(text: str) -> None:
    answer(text)


@pytest.mark.parametrize("family", ["sound", "sharing values"])
@settings(max_examples=20 * LONG)
@given(seed=st.integers(0, 2**32))
def test_what_passes_compiles(family: str, seed: int) -> None:
    space, report = answer(FAMILIES[family](Random(seed)))
    if not report.has_errors:
        compile_networks(space)


@pytest.mark.parametrize("family", ["sound", "sharing values"])
def test_most_generated_programs_mean_something(family: str) -> None:
    """A generator is useful only if most programs are valid."""
    sound = sum(not answer(FAMILIES[family](Random(seed)))[1].has_errors for seed in range(100))
    assert sound >= 50


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_shipped_spaces_survive_truncation(path: Path) -> None:
    text = path.read_text()
    for end in range(0, len(text), max(1, len(text) // 12)):
        answer(text[:end])
