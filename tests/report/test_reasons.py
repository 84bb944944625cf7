"""Sentences that say why a switch was closed or kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.bayes import Why
from bayesnas_graph.bayes.entropy import THRESHOLD
from bayesnas_graph.bayes.worth import errors_of, off_below
from bayesnas_graph.report.reasons import (
    CLOSED,
    KEPT,
    NO_ENTROPY,
    SURE,
    Evidence,
    SwitchRecord,
    at_most,
    closes_below,
    explain,
    short,
)
from bayesnas_graph.runs.reading.decision import Final
from bayesnas_graph.runs.reading.history import Moment

EVIDENCE: list[Evidence] = ["worth", "prior", "factor", "strength"]


def moment(at: int = 6, why: str = "kept", worth: float | None = 0.8, error: float | None = 0.1) -> Moment:
    is_open = why in KEPT
    gamma = 0.5 if is_open else 0.0
    return Moment(at, is_open, why, gamma, gamma, 1.0, None, (1.0,), (1.0,), worth, error)


def record(*moments: Moment, final: Final | None = None, evidence: Evidence = "worth") -> SwitchRecord:
    return SwitchRecord(
        evidence, moments, final, {6: 0.05}, parameters=1234, size_limits=("less than 20,000 parameters",)
    )


def closed(why: Why, evidence: Evidence = "worth") -> str:
    """The sentence for a switch that update 6 closed for this reason."""
    return explain(record(moment(why=why, worth=0.12, error=0.09), final=Final(False, why), evidence=evidence))


def at_end(why: Why, evidence: Evidence = "worth") -> str:
    """The sentence for a switch that was open until the search ended."""
    return explain(record(moment(), final=Final(why.keep, why), evidence=evidence))


# ---- against the code that decides


def test_every_reason_has_a_sentence() -> None:
    assert set(CLOSED) == {why.value for why in Why if not why.keep}
    assert set(KEPT) == {why.value for why in Why if why.keep}


def test_thresholds_are_those_of_the_search() -> None:
    assert NO_ENTROPY == THRESHOLD
    assert pytest.approx(errors_of(0.95), abs=1e-4) == SURE
    assert closes_below(0.05) == pytest.approx(float(off_below(torch.tensor(0.05))))


# ---- closed


@pytest.mark.parametrize(
    ("why", "sentence"),
    [
        (
            Why.OWN,
            "Closed at update 6: worth 0.12 (at most 0.27 with 95 %), below the 0.33 that lambda 0.05 asks for. "
            "It saved 1,234 parameters.",
        ),
        (
            Why.ZERO,
            "Closed at update 6 with its choice: the zero switch in front of all its candidates is off. "
            "It saved 1,234 parameters.",
        ),
        (
            Why.BEFORE,
            "Closed at update 6: too little flows into it, because what it reads is closed. It saved 1,234 parameters.",
        ),
        (
            Why.UNDETERMINED,
            "Closed at update 6: the data say nothing about it, and every output is reached without it. "
            "It saved 1,234 parameters.",
        ),
        (
            Why.DEAD_END,
            "Closed at update 6 with its node: nothing that is open reads it (dead end). It saved 1,234 parameters.",
        ),
        (
            Why.LIMIT,
            "Closed at update 6: its choice keeps a limited number of its candidates, and others are better. "
            "It saved 1,234 parameters.",
        ),
        (
            Why.NODE,
            "Closed at update 6: its node keeps a limited number of inputs, and others are better. "
            "It saved 1,234 parameters.",
        ),
        (
            Why.REQUIRED,
            "Closed at update 6: a `require` of the space allows no more edges. It saved 1,234 parameters.",
        ),
        (
            Why.SIZE,
            "Closed at update 6 (worth 0.12). There was no room for it: the network had to have less than 20,000 "
            "parameters. It saved 1,234 parameters.",
        ),
        (
            Why.LEFT_OUT,
            "Closed at update 6: it is not in the architecture that was given. It saved 1,234 parameters.",
        ),
        (
            Why.LOST,
            "Closed at update 6: the search would have kept it, but the best finalist does without it. "
            "It saved 1,234 parameters.",
        ),
    ],
)
def test_closed(why: Why, sentence: str) -> None:
    assert closed(why) == sentence
    assert at_end(why).startswith("Closed at the end")


def test_closed_without_a_number() -> None:
    """The table of switches is missing."""
    assert explain(SwitchRecord("worth", final=Final(False, "own switch off"))) == (
        "Closed at the end: by itself it is off."
    )
    assert explain(SwitchRecord("worth", final=Final(False, "no room for it"))) == (
        "Closed at the end. There was no room for it in the network."
    )


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ("prior", "its own variance s is 0, not above 0.0585, where the entropy of its prior is zero"),
        ("factor", "the penalty shrank its factor to zero"),
        ("strength", "by itself it is off"),
    ],
)
def test_other_strategies_have_other_evidence(evidence: Evidence, reason: str) -> None:
    assert closed(Why.OWN, evidence) == f"Closed at update 6: {reason}. It saved 1,234 parameters."


def test_a_choice_that_is_left_out() -> None:
    zero = replace(record(moment(why=Why.OWN), final=Final(False, Why.OWN), evidence="strength"), is_zero=True)
    assert explain(zero) == (
        "Closed at update 6: leaving out its whole choice was better. It saved up to 1,234 parameters."
    )


def test_a_dead_end_under_a_closed_zero_switch() -> None:
    found = explain(replace(record(moment(why=Why.DEAD_END)), under_zero=True))
    assert found.startswith("Closed at update 6 with its choice: the zero switch")


def test_a_rival_is_named() -> None:
    own = record(moment(why=Why.LIMIT, worth=0.12, error=0.09))
    rival = moment(worth=1.8)
    assert explain(replace(own, most=1, best={6: ("identity", rival)})) == (
        "Closed at update 6: its choice keeps only 1 of its candidates, and `identity` is better (worth 1.8 against "
        "0.12). It saved 1,234 parameters."
    )
    by_strength = replace(own, evidence="strength", most=1, best={6: ("identity", replace(rival, gamma=0.7))})
    assert "(strength 0.7 against 0)" in explain(by_strength)
    worse = replace(own, most=1, best={6: ("identity", moment(worth=0.1))})
    assert "others are better" in explain(worse)


def test_an_upper_end_above_the_bound_is_not_said_to_be_below() -> None:
    found = explain(record(moment(why=Why.OWN, worth=0.3, error=0.2)))
    assert (
        found
        == "Closed at update 6: worth 0.3 (at most 0.63 with 95 %), too little by itself. It saved 1,234 parameters."
    )


# ---- kept


@pytest.mark.parametrize(
    ("why", "sentence"),
    [
        (Why.NEEDED, "the data say nothing about it, but an output depends on it"),
        (Why.BRIDGE, "off by itself, but an output would be lost without it, and it reconnects that best"),
        (
            Why.ROOM,
            "it would have gone (worth 0.8), but the network has room for it: it may have less than 20,000 parameters",
        ),
        (Why.LEAST, "off by itself, but its choice must keep more, and it is the best left"),
        (Why.DEMANDED, "off by itself, but a `require` of the space needs it"),
        (Why.BEST, "the best of its choice (worth 0.8), or one of the best if several may stay"),
        (Why.GIVEN, "it is in the architecture that was given"),
        (Why.WON, "the best finalist has it"),
        (Why.KEPT, "worth 0.8, above the 0.33 that lambda 0.05 asks for"),
    ],
)
def test_kept(why: Why, sentence: str) -> None:
    assert at_end(why) == f"Kept: {sentence}. It has 1,234 parameters."


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        ("prior", "gamma 0.5, above 0.0585, where the entropy of its prior is zero"),
        ("factor", "its factor is 0.5"),
        ("strength", "its strength is 0.5"),
    ],
)
def test_kept_by_other_strategies(evidence: Evidence, sentence: str) -> None:
    assert at_end(Why.KEPT, evidence) == f"Kept: {sentence}. It has 1,234 parameters."


def test_kept_although_an_update_had_closed_it() -> None:
    found = explain(record(moment(why=Why.OWN), final=Final(True, Why.WON)))
    assert found == "Kept, although update 6 had closed it: the best finalist has it. It has 1,234 parameters."


def test_a_zero_switch_that_is_kept() -> None:
    zero = replace(record(moment(), final=Final(True, Why.BEST), evidence="strength"), is_zero=True)
    assert explain(zero) == "Kept: its choice is used (strength 0.5). All its candidates have 1,234 parameters."


# ---- while the search goes on


@pytest.mark.parametrize(
    ("worth", "error", "sentence"),
    [
        (0.8, 0.1, "worth 0.8, above the 0.33 that lambda 0.05 asks for"),
        (0.2, 0.2, "worth 0.2 (at most 0.53 with 95 %), which is not surely below the 0.33 that lambda 0.05 asks for"),
        (
            0.1,
            0.01,
            "worth 0.1 (at most 0.12 with 95 %), below the 0.33 that lambda 0.05 asks for, but an update closes only "
            "the clearest few",
        ),
        (1.0, 1000.0, "its samples do not say yet what it is worth"),
        (None, None, "its samples do not say yet what it is worth"),
    ],
)
def test_open_so_far(worth: float | None, error: float | None, sentence: str) -> None:
    found = explain(record(moment(worth=worth, error=error)))
    assert found == f"Open so far: {sentence}. It has 1,234 parameters."


def test_open_before_the_first_update() -> None:
    assert explain(SwitchRecord("worth")) == "Open so far."


def test_closed_while_the_search_goes_on() -> None:
    assert explain(record(moment(why=Why.DEAD_END))).startswith("Closed at update 6 with its node")


# ---- documentation


def test_the_documentation_has_these_sentences() -> None:
    words = " ".join((Path(__file__).parents[2] / "docs" / "report.md").read_text().split())
    for sentence in (closed(Why.OWN), closed(Why.DEAD_END), at_end(Why.SIZE), at_end(Why.KEPT)):
        assert sentence in words


# ---- what may come


def test_a_reason_of_a_newer_version() -> None:
    assert explain(SwitchRecord("worth", final=Final(False, "bad luck"))) == "Closed at the end: bad luck."
    assert explain(SwitchRecord("worth", final=Final(True, "good luck"))) == "Kept: good luck."


def test_what_a_switch_is_worth_at_most() -> None:
    assert at_most(moment(worth=0.12, error=0.1)) == pytest.approx(0.28449)
    assert at_most(moment(worth=0.5, error=100.0)) is None


@given(
    st.sampled_from(list(Why)),
    st.sampled_from(EVIDENCE),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.floats(min_value=0, max_value=1e30),
    st.none() | st.sampled_from(list(Why)),
    st.booleans(),
)
def test_any_record_gives_whole_sentences(
    why: Why, evidence: Evidence, worth: float | None, error: float | None, end: Why | None, is_zero: bool
) -> None:
    final = None if end is None else Final(end.keep, end)
    found = explain(
        replace(record(moment(why=why, worth=worth, error=error), final=final, evidence=evidence), is_zero=is_zero)
    )
    assert found.endswith(".")
    for flaw in ("None", "nan", "..", ":.", "  ", " ."):
        assert flaw not in found


@given(st.floats(-1e300, 1e300))
def test_short_numbers_are_close(value: float) -> None:
    read = float(short(value).replace("−", "-").replace(",", ""))
    assert abs(read - value) <= (0.00501 if 0.1 <= abs(value) < 1000 else 0.00501 * abs(value))
