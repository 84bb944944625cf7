"""A bug in an answer or a check is logged, and the server lives on."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from bayesnas_graph.lsp.checks import Checks
from bayesnas_graph.lsp.server import _answer
from bayesnas_graph.lsp.session import Session


def test_a_request_that_fails_has_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    assert asyncio.run(_answer(lambda: 1 // 0)) is None
    assert "ZeroDivisionError" in caplog.text


def test_a_check_that_fails_does_not_stop_the_next(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shown: list[types.PublishDiagnosticsParams] = []

    async def checked_twice() -> None:
        session = Session()
        checks = Checks(session, shown.append)
        session.change("untitled:a", "let a = b")
        with monkeypatch.context() as patch:
            patch.setattr(session, "check", lambda _: 1 // 0)
            await checks._run("untitled:a")
        await checks._run("untitled:a")

    asyncio.run(checked_twice())
    assert "ZeroDivisionError" in caplog.text
    assert [problem.code for params in shown for problem in params.diagnostics] == ["NAS101"]
