"""Any input gives a result or a diagnostic: no traceback, no hang.

`HYPOTHESIS_PROFILE=long` tries ten times as many examples.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import Report, as_json, render
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker, Limits, Space
from bayesnas_graph.language.syntax import format_source
from tests.conftest import LONG, SPACES
from tests.language.syntax.test_format import tokens
from tests.programs import Program, mutate, programs

# Small, so that the many cases take little time each; reaching a limit is a diagnostic like any other.
LIMITS = Limits(nodes=20_000, edges=80_000, depth=60, steps=20_000)


def answer(text: str) -> tuple[Space, Report]:
    """Check and format a text, and render all diagnostics."""
    report = Report()
    source = Source("fuzz.nas", text)
    space = Checker(report, LIMITS).text(source)
    for diagnostic in report.diagnostics:
        assert render(diagnostic)
        assert as_json(diagnostic)
    assert report.has_errors or len(space.networks) == len(space.module.networks)
    assert_formats(text)
    return space, report


def assert_formats(text: str) -> None:
    """Formatting fails exactly if parsing does, is idempotent, and keeps every token."""
    report = Report()
    once = format_source(Source("once", text), report)
    if once is None:
        assert report.has_errors
        return
    assert not report.has_errors
    assert format_source(Source("twice", once), Report()) == once
    assert tokens(once) == tokens(text)


@settings(max_examples=300 * LONG)
@given(programs(fault=0))
def test_sound_programs(text: str) -> None:
    answer(text)


@settings(max_examples=300 * LONG)
@given(programs(fault=0.15))
def test_faulty_programs(text: str) -> None:
    answer(text)


@settings(max_examples=300 * LONG)
@given(st.sampled_from(SPACES), st.randoms(use_true_random=False))
def test_mutated_spaces(path: Path, random: Random) -> None:
    answer(mutate(path.read_text(), random))


@settings(max_examples=300 * LONG)
@given(st.text())
def test_any_text(text: str) -> None:
    answer(text)


def test_most_generated_programs_mean_something() -> None:
    """The generator is useful only if most programs parse."""
    sound = sum(not answer(_program(seed))[1].has_errors for seed in range(100))
    assert sound >= 50


def _program(seed: int) -> str:
    return Program(Random(seed), 0).text()


@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_shipped_spaces_survive_truncation(path: Path) -> None:
    text = path.read_text()
    for end in range(0, len(text), max(1, len(text) // 12)):
        answer(text[:end])
