"""Fixtures that run the program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bayesnas_graph.cli.main import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


def settings(listed: str) -> dict[str, str]:
    """The values by key, from `--settings`."""
    rows = [re.split(r"\s{2,}", line) for line in listed.splitlines()]
    return {row[0]: row[1] for row in rows if row[0] and len(row) > 1}  # the first line names the recipe


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the program as the console script does, in this process."""

    def go(*arguments: object, stdin: str = "") -> Result:
        import io
        import sys

        monkeypatch.setattr(sys, "argv", ["bayesnas-graph", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as exit:
            main()
        captured = capsys.readouterr()
        code = exit.value.code
        return Result(code if isinstance(code, int) else 0 if code is None else 1, captured.out, captured.err)

    return go
