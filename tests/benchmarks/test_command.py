"""The command stored in a record."""

from __future__ import annotations

import sys

import pytest

from benchmarks.command import arguments, command


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--rounds", "3", "--save"], " --rounds 3"),
        (["digits", "--runs", "/home/me/runs", "--seed", "1"], " digits --seed 1"),
        (["--data-dir=/home/me/data", "--form", "plain, channels last"], " --form 'plain, channels last'"),
    ],
)
def test_what_says_where_is_left_out(given: list[str], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/home/me/checkout/benchmarks/made_up.py", *given])
    assert command() == f"python -m benchmarks.made_up{told}"
    assert arguments("Doc.").parse_args([]).name == "made_up"
