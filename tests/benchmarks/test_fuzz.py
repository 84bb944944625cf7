"""The long fuzzing command counts what happens, and goes on after a failure."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from benchmarks import fuzz
from tests import fuzzing


def test_a_range_of_seeds_is_counted() -> None:
    counts, slowest, failures = fuzz.chunk("sound", 0, 22, 60)
    assert counts["programs"] == 22 == counts["accepted"] + counts["rejected"]
    valid = [not fuzzing.checked(fuzzing.FAMILIES["sound"](Random(seed)))[1].has_errors for seed in (0, 10, 20)]
    assert counts["compiled"] == sum(valid) > 0
    assert slowest > 0
    assert not failures


def test_an_exception_is_reported_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(random: Random) -> str:
        if random.random() < 0.5:
            raise RuntimeError("broken generator")
        return ""

    monkeypatch.setitem(fuzzing.FAMILIES, "broken", broken)
    counts, _, failures = fuzz.chunk("broken", 0, 10, 60)
    wrong = [seed for seed in range(10) if Random(seed).random() < 0.5]
    assert counts == Counter(
        programs=10, exceptions=len(wrong), rejected=counts["rejected"], accepted=counts["accepted"]
    )
    assert [f"broken, seed {seed}:" for seed in wrong] == [failure.splitlines()[0] for failure in failures]
    assert "broken generator" in failures[0]


def test_a_program_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(random: Random) -> str:
        while True:
            random.random()

    monkeypatch.setitem(fuzzing.FAMILIES, "endless", endless)
    counts, _, failures = fuzz.chunk("endless", 7, 8, 0.05)
    assert counts == Counter(programs=1, hangs=1)
    assert failures == ["endless, seed 7: more than 0.05 s"]
