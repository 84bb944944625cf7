"""Every tests/golden/<stage>/<case>.nas, run through <stage>, must print <case>.out.

Each case starts with a comment on its purpose. `pytest --update-golden` rewrites the outputs; read the
diff before committing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import Report, render
from bayesnas_graph.language.elaborate import Checker
from tests.helpers import formatted

GOLDEN = Path(__file__).parent / "golden"
WIDTH = 80  # of the terminal that diagnostics are shown on


def _diagnostics(path: Path) -> str:
    report = Report()
    Checker(report).path(path, path.name)
    return "\n".join(render(diagnostic, width=WIDTH) for diagnostic in report.diagnostics)


def _elaborate(path: Path) -> str:
    report = Report()
    space = Checker(report).path(path, path.name)
    assert space is not None
    assert not report.diagnostics, _diagnostics(path)
    return "\n".join(str(network.graph()) for network in space.networks)


STAGES: dict[str, Callable[[Path], str]] = {
    "diagnostics": _diagnostics,
    "elaborate": _elaborate,
    "format": lambda path: formatted(path.read_text()),
}
CASES = sorted(GOLDEN.glob("*/*.nas"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden(case: Path, update_golden: bool) -> None:
    actual = STAGES[case.parent.name](case)
    expected = case.with_suffix(".out")
    if update_golden:
        expected.write_text(actual)
    assert actual == expected.read_text()
    assert case.read_text().startswith("//"), "say why the case exists"
