"""When documents are checked, and that everything `check` reports is shown."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from lsprotocol import types

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.lsp import checks
from bayesnas_graph.lsp.documents import open_document, uri_of
from bayesnas_graph.lsp.networks import elaborate
from bayesnas_graph.lsp.problems import problems
from bayesnas_graph.lsp.reading import read_document
from bayesnas_graph.lsp.session import Session
from tests.conftest import ROOT

CASES = sorted((ROOT / "tests" / "golden" / "diagnostics").glob("*.nas"))
SPACE = "network net : vector(2) -> vector(2) { in x  x -> out : nothing }\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_everything_that_check_reports_is_shown(path: Path) -> None:
    report = Report()
    Checker(report).path(path)
    reading = read_document(open_document(uri_of(path), path.read_bytes().decode()), {})
    elaborate(reading)
    found = [(found.code, found.message, found.help) for found in reading.diagnostics()]
    assert found == [(found.code, found.message, found.help) for found in report.diagnostics]
    assert len(problems(reading, reading.diagnostics())) == len(found)


def test_the_shipped_spaces_have_no_problems() -> None:
    for path in shipped_spaces():
        reading = read_document(open_document(uri_of(path), path.read_text()), {})
        assert reading.diagnostics() == ()


def test_a_cancelled_check_finds_nothing() -> None:
    reading = read_document(open_document("untitled:a", SPACE), {})
    assert not elaborate(reading, lambda: True).complete
    session = Session()
    session.change("untitled:a", SPACE)
    assert session.check("untitled:b") is None


def test_a_changed_document_is_not_checked_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    session.change("untitled:a", SPACE)
    reading = session.reading

    def reading_while_typing(uri: str) -> Any:
        found = reading(uri)
        session.change(uri, "")
        return found

    monkeypatch.setattr(session, "reading", reading_while_typing)
    assert session.check("untitled:a") is None
    assert session.elaboration("untitled:a") is None


def test_problems_of_the_text_are_shown_before_networks_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "PATIENCE", 0.01)
    shown: list[types.PublishDiagnosticsParams] = []
    session, first = Session(), Event()
    session.change("untitled:a", SPACE, 7)
    check = session.check

    def slow(uri: str) -> Any:
        first.wait()  # until something is shown
        return check(uri)

    def publish(params: types.PublishDiagnosticsParams) -> None:
        shown.append(params)
        first.set()

    monkeypatch.setattr(session, "check", slow)

    async def run() -> None:
        await checks.Checks(session, publish)._run("untitled:a")

    asyncio.run(run())
    assert [(params.version, [problem.code for problem in params.diagnostics]) for params in shown] == [
        (7, ["NAS101"])
    ] * 2
