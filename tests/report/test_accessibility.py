"""Every kind of page passes the rules of axe-core, in a real browser."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from tests import browser as browsers
from tests.helpers import mostly_long
from tests.report.conftest import Visit
from tests.report.test_browser import scroll_through

WIDE = 1440


@pytest.fixture(scope="session")
def axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, axe: str) -> list[tuple[str, Any]]:
    """The violated rules, each with the elements that violate it."""
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 30
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]]


@pytest.mark.parametrize("theme", mostly_long(["light", "dark"], "light"))
@pytest.mark.parametrize("width", [WIDE, browsers.PHONE])
@pytest.mark.parametrize("kinds", [("quickstart",), ("trained",), ("compressed",), ("quickstart", "own_switches")])
def test_no_rule_is_violated(
    visit: Visit,
    axe: str,
    request: pytest.FixtureRequest,
    kinds: tuple[str, ...],
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    runs = [request.getfixturevalue(kind) for kind in kinds]
    with visit(*runs, width=width, theme=theme) as page:
        scroll_through(page)
        assert violations(page, axe) == []


def test_nor_in_the_history_of_a_switch(visit: Visit, axe: str, quickstart: Path) -> None:
    with visit(quickstart, anchor="#switch=h.0.sep_conv") as page:
        page.locator("#detail svg.marks").first.wait_for()
        assert violations(page, axe) == []
