"""README.md shows the shipped space `quickstart`, and what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayesnas_graph import api
from tests.conftest import ROOT
from tests.test_docs import blocks, shape, this_process, transcript

PAGE = ROOT / "README.md"
SHORT = "-s iterations=1 -s steps=4 -s warmup=4 -s finish=4 -s threads=1"


def test_the_space_is_quickstart() -> None:
    (text,) = (block.text for block in blocks(PAGE) if block.kind == "nas")
    assert api.load(text=text).graph() == api.load("quickstart").graph()


def test_the_commands_print_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, and which switches are closed, depend on the machine; and the search is a short one here."""
    (session,) = (block.text for block in blocks(PAGE) if block.kind == "sh" and "search quickstart" in block.text)
    check, search, export = session.splitlines()
    shown = [block.text for block in blocks(PAGE) if block.kind == "text"]
    found, exported = shown
    assert "quickstart.nas: ok" in transcript(check, tmp_path, this_process)
    printed = transcript(f"{search} {SHORT}", tmp_path, this_process)
    cell, counts = found.split("\n\n")
    counts = re.sub(r"(switches).*", r"\1", counts)
    printed = re.sub(r"( of \d+ switches).*", r"\1", printed)
    counts = re.sub(r"met$", "MET", counts, flags=re.MULTILINE)
    printed = re.sub(r"(not )?met$", "MET", printed, flags=re.MULTILINE)
    assert re.search(shape(counts), printed), printed
    for line in cell.splitlines():
        assert line[:15] in printed
    assert re.fullmatch(shape(exported), transcript(export, tmp_path, this_process).partition("\n")[2])


def test_the_front_page_is_short() -> None:
    assert len(PAGE.read_text().splitlines()) <= 120
