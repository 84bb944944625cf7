"""Charts in a real browser: one cursor for all that shows time, and the history of a switch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from markupsafe import Markup
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from bayesnas_graph.report.builder import build_page
from bayesnas_graph.report.charts.heatmaps import MAX_ROWS, SearchHistory
from bayesnas_graph.report.page import render_page
from bayesnas_graph.report.search_sections import heat_section
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch
from tests import browser as browsers
from tests.report.runs import searched

Visit = Callable[..., AbstractContextManager[Page]]

STEPS = 20  # of every iteration of the made-up run, which has five
LINE = 27  # of the choice in the space
RULE = 'line[stroke-width="1.5"][opacity="1"]:not([stroke-dasharray])'  # where the cursor is shown
POINTED = 'line[stroke-width="1.5"][opacity="1"][stroke-dasharray]'
FILLS = """(plot) => {
    const drawing = plot.querySelector("svg.marks");  // null for a moment when it is drawn again
    return drawing !== null && Math.abs(drawing.clientWidth - drawing.parentElement.clientWidth) <= 2;
}"""
FRAME = 'path[stroke-width="1.5"][stroke-opacity="1"]:not([stroke-dasharray])'


@pytest.fixture(scope="module")
def report(quickstart: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a search."""
    file = tmp_path_factory.mktemp("charts") / "report.html"
    file.write_text(build_page([quickstart]).html(), encoding="utf-8")
    return file


@pytest.fixture
def visit(browser: Browser, report: Path) -> Visit:
    """Opens a page, by default that of the search, and finally checks that there were no errors."""

    @contextmanager
    def go(
        file: Path = report, width: int = browsers.DESK, theme: Literal["light", "dark"] = "light"
    ) -> Iterator[Page]:
        with browsers.opened(browser, file, width, theme) as found:
            yield found.page
            assert found.complaints == []

    return go


def move(page: Page, moment: int) -> None:
    page.locator("#moment").evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", moment)


def plot(page: Page, key: str) -> Locator:
    """A chart, drawn."""
    found = page.locator(f'.plot[data-chart="{key}"]')
    found.scroll_into_view_if_needed()
    expect(found.locator("svg.marks")).to_be_visible()
    return found


def area(chart: Locator) -> FloatRect:
    """The rectangle inside the axes."""
    found = chart.locator("svg.marks .background").first.bounding_box()
    assert found is not None
    return found


def middle(mark: Locator) -> float:
    found = mark.bounding_box()
    assert found is not None
    return found["x"] + found["width"] / 2


def place(chart: Locator, share: float, down: float = 30) -> tuple[float, float]:
    """A point in a chart, at a share of its width, brought into view."""
    chart.evaluate("it => it.scrollIntoView({ behavior: 'instant' })")
    inside = area(chart)
    return inside["x"] + share * inside["width"], inside["y"] + down


# ---- one time axis


def test_the_slider_moves_a_rule_in_all_curves(visit: Visit) -> None:
    with visit() as page:
        chart = plot(page, "curves-progress")
        for moment in (2, 4):
            move(page, moment)
            expect(chart).to_have_attribute("data-shown", str(STEPS * moment))
            expect(chart.locator(RULE)).to_have_count(4)
            inside = area(chart)
            for rule in chart.locator(RULE).all():
                assert middle(rule) == pytest.approx(inside["x"] + inside["width"] * moment / 5, abs=2)


@pytest.mark.parametrize("key", ["heat-operations", "heat-switches-1"])
def test_the_slider_marks_a_column_of_the_maps(visit: Visit, key: str) -> None:
    with visit() as page:
        chart = plot(page, key)
        move(page, 2)
        expect(chart.locator(FRAME)).to_have_count(1)
        inside = area(chart)
        assert middle(chart.locator(FRAME)) == pytest.approx(inside["x"] + inside["width"] * 1.5 / 5, abs=2)
        move(page, 6)  # the derived network has no column
        expect(chart.locator(FRAME)).to_have_count(0)


@pytest.mark.parametrize(
    ("key", "share", "moment"),
    [
        ("curves-progress", 0.59, 3),
        ("curves-progress", 0.02, 0),
        ("heat-operations", 0.7, 4),
        ("heat-switches-1", 0.1, 1),
    ],
)
def test_a_click_in_a_chart_moves_the_slider(visit: Visit, key: str, share: float, moment: int) -> None:
    with visit() as page:
        chart = plot(page, key)
        page.mouse.click(*place(chart, share))
        expect(page.locator("#moment")).to_have_value(str(moment))
        label = "before the search" if moment == 0 else f"update {moment} of 5"
        expect(page.locator("#moment-text")).to_contain_text(f"{label} · ")


def test_the_pointer_shows_its_time_in_all_charts(visit: Visit) -> None:
    with visit() as page:
        others = [plot(page, "curves-progress"), plot(page, "heat-operations")]
        chart = others.pop()
        page.mouse.move(*place(chart, 0.5))
        expect(others[0]).to_have_attribute("data-pointed", str(3 * STEPS))
        expect(others[0].locator(POINTED)).to_have_count(4)
        expect(page.locator("#chart-heat-operations .when")).to_contain_text("pointer: update 3 of 5 · ")
        expect(page.locator("#moment")).to_have_value("6")  # only a click moves it
        page.mouse.move(2, 2)
        expect(others[0].locator(POINTED)).to_have_count(0)
        expect(page.locator("#chart-heat-operations .when")).to_contain_text("derived · ")


def test_a_new_theme_keeps_the_cursor(visit: Visit) -> None:
    with visit() as page:
        chart = plot(page, "curves-progress")
        move(page, 2)
        page.locator("#theme").click()
        expect(page.locator('.plot[data-chart="curves-progress"][data-drawn=dark]')).to_be_attached()
        expect(chart.locator(RULE)).to_have_count(4)


def test_marks_beside_the_text_follow_the_slider(visit: Visit) -> None:
    with visit() as page:
        line = page.locator("#space-0 .line").nth(LINE - 1)
        mark = line.locator(".mark")
        last = [mark.get_attribute(name) for name in ("data-mark", "title", "aria-label")]
        candidates = [s for s in page.evaluate("page.data.graph.switches") if s["operation"] != "zero"]
        for moment in range(6):
            move(page, moment)
            left = sum(one["closed"] is None or one["closed"] > moment for one in candidates)
            shown = "+" if left == len(candidates) else f"~ {left}/{len(candidates)}"
            expect(mark).to_have_attribute("data-mark", shown)
            expect(line).to_have_class("line kept" if shown == "+" else "line partly")
        expect(mark).to_have_attribute("title", f"{left} of {len(candidates)} left, update 5 of 5")
        expect(page.locator("#marks-moment")).to_contain_text("Shown: update 5 of 5 · ")
        move(page, 6)
        assert [mark.get_attribute(name) for name in ("data-mark", "title", "aria-label")] == last


# ---- layout


@pytest.mark.parametrize("width", [browsers.DESK, browsers.PHONE])
def test_nothing_moves_when_charts_are_drawn(visit: Visit, width: int) -> None:
    with visit(width=width) as page:
        tops = "[...document.querySelectorAll('section')].map((it) => it.getBoundingClientRect().top + scrollY)"
        before: list[float] = page.evaluate(tops)
        for chart in page.locator(".plot[data-chart]:visible").all():
            chart.scroll_into_view_if_needed()
            expect(chart.locator("svg.marks")).to_be_visible()
        assert page.evaluate(tops) == pytest.approx(before, abs=2)


@pytest.mark.parametrize("width", [browsers.DESK, browsers.PHONE])
def test_stacked_charts_fill_their_room(visit: Visit, width: int) -> None:
    with visit() as page:
        chart = plot(page, "curves-progress")
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(FILLS, arg=chart.element_handle())


def test_more_curves_are_drawn_when_they_are_opened(visit: Visit) -> None:
    with visit() as page:
        fold = page.locator("#curves details.more")
        expect(fold.locator("svg.marks")).to_have_count(0)
        fold.locator("summary").first.click()
        plot(page, "curves-penalty")
        plot(page, "curves-step-time")


def test_a_map_of_thousands_of_switches_is_folded(visit: Visit, tmp_path: Path) -> None:
    count = 20 * MAX_ROWS
    switches = [OutlineSwitch(f"s{n}", "cell", f"h[{n // 4}]", f"op{n % 4}") for n in range(count)]
    moments = tuple(Moment(n, True, "kept", 1.0 / n, 1.0, 1.0, 1.0, (1.0,), (1.0,)) for n in range(1, 11))
    file = tmp_path / "maps.html"
    section = heat_section(SearchHistory(switches, {switch.name: moments for switch in switches}))
    file.write_text(render_page("maps", Markup(), [section]), encoding="utf-8")
    with visit(file) as page:
        folds = page.locator("details.more")
        expect(folds).to_have_count(20)
        expect(folds.nth(3).locator("summary").first).to_have_text(
            f"cell: switches {3 * MAX_ROWS + 1} to {4 * MAX_ROWS} of {count:,}, from h[{3 * MAX_ROWS // 4}]"
        )
        plot(page, "heat-operations")
        expect(page.locator("details.more svg.marks")).to_have_count(0)
        folds.nth(3).locator("summary").first.click()
        found = plot(page, "heat-switches-4")
        expect(found.locator('path[aria-roledescription="rect mark"]')).to_have_count(10 * MAX_ROWS)
        expect(page.locator("details.more svg.marks")).to_have_count(1)


def test_runs_are_compared_on_the_same_axis(visit: Visit, quickstart: Path, tmp_path: Path) -> None:
    other = searched(tmp_path / "other", seed=1)
    file = tmp_path / "comparison.html"
    file.write_text(build_page([quickstart, other]).html(), encoding="utf-8")
    with visit(file) as page:
        chart = plot(page, "curves-progress")
        for name in ("quickstart", "other", "held-out samples", "multiply-adds"):
            expect(chart.locator("text", has_text=name).first).to_be_visible()
        page.mouse.click(*place(chart, 0.5))  # there is no slider
        expect(page.locator(".when:visible")).to_have_count(0)


# ---- why is this gone?


def switches(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate("page.data.graph.switches")
    return found


def test_a_click_on_a_switch_says_why_it_is_gone(visit: Visit) -> None:
    with visit() as page:
        for kept in (False, True):
            one = next(s for s in switches(page) if s["kept"] is kept and s["operation"] == "sep_conv")
            gate = one["name"].removeprefix("block:")
            page.locator(f'details.panel .candidate[data-gate="{gate}"] text').click()
            detail = page.locator("#detail")
            expect(detail.locator(".because")).to_have_text(one["because"])
            expect(detail.locator(".because")).to_contain_text(
                "Kept: " if kept else f"Closed at update {one['closed']}: "
            )
            expect(detail).to_contain_text("worth: the best value of its gate")
            expect(detail.locator("svg.marks text", has_text="lambda asks for 0.60")).to_be_visible()
            page.keyboard.press("Escape")


def test_the_numbers_of_a_switch_are_explained_under_a_fold(visit: Visit) -> None:
    with visit() as page:
        move(page, 1)
        one = next(s for s in switches(page) if s["kept"])
        page.evaluate("(name) => page.openHistory(page.search.switches.find((one) => one.name === name))", one["name"])
        numbers = page.locator("#detail .numbers")
        expect(numbers.locator("table")).to_be_hidden()
        numbers.locator("summary").click()
        expect(numbers.locator("svg.marks")).to_be_visible()
        for symbol, meaning in page.evaluate("page.data.graph.symbols").items():
            row = numbers.locator("tr", has=page.get_by_role("cell", name=symbol, exact=True))
            expect(row).to_contain_text(meaning)
        expect(numbers).to_contain_text("At update 1 of 5:")
        expect(numbers.locator("svg.marks text", has_text="closed at 0.0585 or less")).to_be_visible()


def test_the_history_of_a_switch_has_the_cursor_too(visit: Visit) -> None:
    with visit() as page:
        move(page, 2)
        page.evaluate("page.openHistory(page.search.switches.find((one) => one.kept))")
        chart = page.locator("#detail > .plot")
        expect(chart.locator(RULE)).to_have_count(1)
        page.mouse.click(*place(chart, 0.7))
        expect(page.locator("#moment")).to_have_value("4")


def test_a_name_beside_a_map_opens_the_history(visit: Visit) -> None:
    with visit() as page:
        chart = plot(page, "heat-switches-1")
        chart.locator(".role-axis-label text", has_text="sep_conv").first.click()
        expect(page.locator("#detail h3")).to_have_text("block h[0]: sep_conv")
        expect(page.locator("#moment")).to_have_value("6")


def test_other_strategies_have_their_own_evidence(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(build_page([searched(tmp_path / "run", strategy="darts")]).html(), encoding="utf-8")
    with visit(file, width=browsers.PHONE, theme="dark") as page:
        page.evaluate("page.openHistory(page.search.switches.find((one) => one.kept))")
        detail = page.locator("#detail")
        expect(detail).to_contain_text("strength: the number by which the strategy ranks candidates")
        detail.locator("summary", has_text="All numbers").click()
        expect(detail.locator(".numbers svg.marks")).to_be_visible()
        for chart in detail.locator(".plot").all():
            assert chart.evaluate("it => it.scrollWidth <= it.clientWidth")
