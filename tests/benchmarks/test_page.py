"""The benchmark page matches the records, and stale pages are detected."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from benchmarks.dots import dots
from benchmarks.page import Mismatch, Section, conditions, generated
from benchmarks.record import Record
from tests.conftest import ROOT

MADE_UP = Record(
    name="made_up",
    command="python -m benchmarks.made_up",
    date="2026-01-31",
    machine={"processor": "x86_64", "cores": 2, "memory, GiB": 8, "threads": 1},
    versions={"Python": "3.11.0", "torch": "2.4.0"},
    seeds=(0, 1),
    settings={"rounds": 3},
    key=("form",),
    rows=({"form": "plain", "seconds": [1.0, 2.0]},),
)
SECTION = Section("made_up", lambda record: f"{len(record.rows)} row\n")
DRAWN = Section("made_up", SECTION.table, lambda _: "<svg/>", "A picture")
PAGE = "Before.\n\n<!-- begin made_up -->\nold\n<!-- end made_up -->\n\nAfter.\n"


def page(text: str, records: Mapping[str, Record], section: Section = SECTION) -> str:
    return generated(text, records, [section])[0]


def test_the_page_is_what_the_records_give() -> None:
    command = [sys.executable, "-m", "benchmarks.page", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_text_between_markers_is_regenerated() -> None:
    made = page(PAGE, {"made_up": MADE_UP})
    table = f"<!-- begin made_up -->\n\n1 row\n\n{conditions(MADE_UP)}\n<!-- end made_up -->"
    assert made == f"Before.\n\n{table}\n\nAfter.\n"
    assert page(made, {"made_up": MADE_UP}) == made


def test_a_picture_is_below_its_table() -> None:
    made, pictures = generated(PAGE, {"made_up": MADE_UP}, [DRAWN])
    assert "1 row\n\n![A picture](benchmarks/made_up.svg)\n" in made
    assert pictures == {"benchmarks/made_up.svg": "<svg/>"}


def test_provenance_is_shown() -> None:
    assert conditions(MADE_UP) == (
        "<sub>`python -m benchmarks.made_up`, 2026-01-31; x86_64, 2 cores, 8 GiB, 1 thread; "
        "Python 3.11.0, torch 2.4.0; 3 rounds; seeds 0, 1.</sub>\n"
    )


@pytest.mark.parametrize(
    ("text", "records", "message"),
    [
        (PAGE, {}, "the page has markers for `made_up`, which has no record: run its benchmark with --save"),
        ("", {"made_up": MADE_UP}, "the record `made_up` is not on the page: add <!-- begin made_up -->"),
        ("", {"unknown": MADE_UP}, "no section for `unknown`: add it to SECTIONS"),
        (PAGE + PAGE, {"made_up": MADE_UP}, "the markers of `made_up` must be one"),
        ("<!-- begin made_up -->\n", {"made_up": MADE_UP}, "the markers of `made_up` must be one"),
    ],
    ids=["no record", "no marker", "no section", "twice", "no end"],
)
def test_mixed_records_are_reported(text: str, records: dict[str, Record], message: str) -> None:
    with pytest.raises(Mismatch, match=re.escape(message)):
        page(text, records)


def test_dots_are_all_in_the_picture() -> None:
    drawn = dots({"batch 8": {"fused": [1.5, 2.0, 2.5], "apart": [1.0]}}, "times as fast", reference=1)
    assert drawn.count("<circle") == 4
    assert "prefers-color-scheme:dark" in drawn
    assert all(word in drawn for word in ("batch 8", "fused", "apart", "times as fast"))
