"""Pages in a real browser: no errors, no network requests, and all controls work."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

import pytest
from markupsafe import Markup
from playwright.sync_api import Browser, Locator, Page, expect

from bayesnas_graph.report.graph_section import graph_section
from bayesnas_graph.report.page import render_page
from bayesnas_graph.report.reported_run import read_reported_run
from tests import browser as browsers
from tests.helpers import edit_json
from tests.report.conftest import Visit
from tests.report.runs import OWN_SWITCHES, searched


def move(page: Page, moment: int) -> None:
    page.locator("#moment").evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", moment)


def candidate(page: Page, gate: str) -> Locator:
    return page.locator(f'details.panel .candidate[data-gate="{gate}"]')


def look(mark: Locator) -> tuple[float, str]:
    """The width and the dashes of the line of a candidate."""
    width, dashes = mark.locator("> path").evaluate(
        "it => [parseFloat(getComputedStyle(it).strokeWidth), getComputedStyle(it).strokeDasharray]"
    )
    return width, dashes


def contrast(*colours: str) -> float:
    """The contrast of two opaque colours, as WCAG defines it."""
    low, high = sorted(map(_luminance, colours))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def switches(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate("page.data.graph.switches")
    return found


def scroll_through(page: Page) -> None:
    """Scroll to the end, so that lazily drawn parts are drawn."""
    page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    for plot in page.locator(".plot[data-chart]").all():
        plot.scroll_into_view_if_needed()
        expect(plot.locator("svg.marks").first).to_be_attached()


# ---- the page as a whole


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [browsers.DESK, browsers.PHONE])
def test_no_complaints_and_nothing_wider_than_the_window(
    visit: Visit, quickstart: Path, width: int, theme: Literal["light", "dark"]
) -> None:
    with visit(quickstart, width=width, theme=theme) as page:
        scroll_through(page)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("gone", [["result.json", "decision.json"], ["updates.csv", "switches.csv"], ["metrics.csv"]])
def test_an_unfinished_run_has_no_complaints_either(
    visit: Visit, quickstart: Path, tmp_path: Path, gone: list[str]
) -> None:
    run = Path(shutil.copytree(quickstart, tmp_path / "run"))
    for name in gone:
        (run / name).unlink()
    with visit(run) as page:
        scroll_through(page)


def test_the_theme_can_be_changed(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        scroll_through(page)
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
        expect(page.locator(".plot[data-drawn=light]")).to_have_count(0)  # charts are redrawn


def test_all_sections_can_be_seen_in_the_navigation(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        assert page.evaluate("(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('nav'))")


def test_source_can_be_copied(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        button = page.locator("#source details[open] button.copy")
        button.click()
        expect(button).to_have_text("copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith('"""Network `digits')
        assert copied.rstrip("\n") == page.locator("#source details[open] code").evaluate(
            "it => it.textContent"
        ).rstrip("\n")
        compile(copied, "digits.py", "exec")


# ---- the graph


def test_what_is_closed_is_thin_and_dashed_from_then_on(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        for switch in switches(page):
            if switch["operation"] == "zero":
                continue
            mark = candidate(page, switch["name"].removeprefix("block:"))
            move(page, 0)
            assert look(mark) == (1 + 2.4, "none")
            if switch["closed"] is None:
                move(page, 5)
                assert look(mark)[1] == "none", switch["name"]
                continue
            move(page, switch["closed"] - 1)
            assert look(mark)[1] == "none", switch["name"]
            move(page, switch["closed"])
            assert look(mark) == (1, "3px, 3px"), switch["name"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_closed_can_be_read(visit: Visit, quickstart: Path, theme: Literal["light", "dark"]) -> None:
    with visit(quickstart, theme=theme) as page:
        labels = page.locator(".panel .candidate.closed > text, .panel .choice.dead > text")
        assert labels.count() > 10
        colours = "it => [getComputedStyle(it).fill, getComputedStyle(it.closest('.panel')).backgroundColor]"
        assert min(contrast(*label.evaluate(colours)) for label in labels.all()) >= 4.5
        visible = "it => { let o = 1; for (; it; it = it.parentElement) o *= getComputedStyle(it).opacity; return o; }"
        assert {label.evaluate(visible) for label in labels.all()} == {1}


def test_the_weaker_gamma_the_thinner(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        move(page, 1)
        open_ = [s for s in switches(page) if s["closed"] != 1 and s["operation"] != "zero"]
        shown = [(s["gamma"][0], look(candidate(page, s["name"].removeprefix("block:")))[0]) for s in open_]
        assert len(shown) > 5
        shown.sort()
        assert [width for _, width in shown] == sorted(width for _, width in shown)
        assert shown[0][1] < shown[-1][1]


def test_in_the_end_what_was_derived_is_left(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        move(page, 6)
        for switch in switches(page):
            if switch["operation"] != "zero":
                mark = candidate(page, switch["name"].removeprefix("block:"))
                assert look(mark) == ((1 + 2.4, "none") if switch["kept"] else (1, "3px, 3px")), switch["name"]
        expect(page.locator("#moment-text")).to_contain_text("derived · ")
        expect(page.locator("#moment-text")).to_contain_text("test accuracy 0.9125")


def test_the_keyboard_moves_the_slider(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        page.locator("#moment").focus()
        page.keyboard.press("Home")
        expect(page.locator("#moment-text")).to_contain_text("before the search · 30 of 30 switches open")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#moment-text")).to_contain_text("update 1 of 5 · ")


def test_other_strategies_have_a_strength_in_place_of_a_prior(visit: Visit, tmp_path: Path) -> None:
    with visit(searched(tmp_path / "run", strategy="darts")) as page:
        kept = next(s for s in switches(page) if s["kept"] and s["operation"] == "relu_conv_bn")
        move(page, 2)
        candidate(page, kept["name"].removeprefix("block:")).locator("text").hover()
        facts = page.locator("#tip").locator("td:first-child").all_inner_texts()
        assert facts == ["state", "strength", "w", "parameters", "source", "line"]
        expect(page.locator("#graph")).to_contain_text("The larger the strength")
        scroll_through(page)


def test_hovering_tells_everything_about_a_switch(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        kept = next(s for s in switches(page) if s["kept"] and s["operation"] == "relu_conv_bn")
        move(page, 2)
        candidate(page, kept["name"].removeprefix("block:")).locator("text").hover()
        tip = page.locator("#tip")
        expect(tip).to_contain_text(kept["text"])
        facts = dict(
            zip(
                tip.locator("td:first-child").all_inner_texts(),
                tip.locator("td:last-child").all_inner_texts(),
                strict=True,
            )
        )
        assert list(facts) == [
            "state", "worth", "gamma", "s", "omega", "entropy", "w", "h", "parameters", "source", "line",
        ]  # fmt: skip
        assert facts["state"] == "open"
        assert float(facts["gamma"]) == pytest.approx(kept["gamma"][1], rel=1e-2)
        assert float(facts["omega"]) == 1.5
        assert [float(w) for w in facts["w"].split(", ")] == pytest.approx(kept["w"][1], rel=1e-2)
        assert facts["parameters"].endswith(" in 3 uses")
        assert facts["source"] == "<shipped>/quickstart.nas:27"
        assert facts["line"] == "entry, h[0..j] -> h[j] : choose candidates(width)"
        page.mouse.move(2, 2)
        expect(tip).to_be_hidden()


def test_a_zero_node_is_a_switch_as_well(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        page.locator('.choice[data-zero="h.0.zero"] > text', has_text="0").last.hover()
        expect(page.locator("#tip")).to_contain_text("block h[0]: zero")


def test_a_click_opens_the_history(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        candidate(page, "h.0.sep_conv").locator("text").click()
        detail = page.locator("#detail")
        expect(detail.locator("h3")).to_have_text("block h[0]: sep_conv")
        expect(detail.locator("svg.marks")).to_be_visible()
        switch = next(s for s in switches(page) if s["name"] == "block:h.0.sep_conv")
        expect(detail.locator(".facts")).to_contain_text(switch["because"])
        outcome = f"{'kept' if switch['kept'] else 'removed'}: {switch['reason']}"
        detail.locator("summary", has_text="All numbers").click()
        expect(detail.locator(".numbers")).to_contain_text(f"outcome\t{outcome}", use_inner_text=True)
        assert page.evaluate("page.search.outcome({ kept: true, reason: 'kept' })") == "kept"  # once is enough
        page.keyboard.press("Escape")
        expect(detail).to_be_hidden()


def test_a_history_has_room_on_a_phone(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart, width=browsers.PHONE) as page:
        candidate(page, "h.0.sep_conv").locator("text").click()
        expect(page.locator("#detail svg.marks")).to_be_visible()
        assert page.locator("#detail .plot").evaluate("it => it.scrollWidth <= it.clientWidth")


def test_switches_are_walked_with_the_keyboard(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        page.locator('details.panel[data-panel="1"] .picture').focus()
        page.keyboard.press("ArrowRight")
        first = page.locator("#tip strong").inner_text()
        page.keyboard.press("ArrowRight")
        assert page.locator("#tip strong").inner_text() != first
        page.keyboard.press("ArrowLeft")
        assert page.locator("#tip strong").inner_text() == first
        page.keyboard.press("Enter")
        expect(page.locator("#detail h3")).to_have_text(first)
        page.keyboard.press("Escape")
        expect(page.locator('details.panel[data-panel="1"] .picture')).to_be_focused()


def test_the_keyboard_leads_into_boxes(visit: Visit, own_switches: Path) -> None:
    with visit(own_switches) as page:
        page.locator('details.panel[data-panel="0"] .picture').focus()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        expect(page.locator('details.panel[data-panel="1"] .picture')).to_be_focused()
        expect(page.locator('details.panel[data-panel="1"] select option:checked')).to_have_text("b")
        page.keyboard.press("End")
        last = page.locator("#tip strong").inner_text()
        page.keyboard.press("Home")
        assert page.locator("#tip strong").inner_text() != last


def test_charts_are_saved_by_their_names(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        page.locator("#chart-curves-progress .plot").scroll_into_view_if_needed()
        page.locator("#chart-curves-progress summary").click()
        with page.expect_download() as saved:
            page.locator("#chart-curves-progress .vega-actions a", has_text="SVG").click()
        assert saved.value.suggested_filename == "curves-progress.svg"


def test_a_switch_is_found_by_its_name(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        page.locator("#find").fill("h.2 sep")
        expect(page.locator("#found [role=option]")).to_have_count(3)
        expect(page.locator(".candidate.match")).to_have_count(3)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#tip strong")).to_have_text("block h[2] <- h[0]: sep_conv")
        page.locator("#find").fill("nonsense")
        expect(page.locator("#found")).to_have_text("no matching switch")
        page.keyboard.press("Escape")
        expect(page.locator(".candidate.match")).to_have_count(0)


def test_uses_with_their_own_switches_are_distinguished(visit: Visit, own_switches: Path) -> None:
    with visit(own_switches) as page:
        panel = page.locator('details.panel[data-panel="1"]')
        candidate(page, "h.x.conv_3").locator("text").hover()
        expect(page.locator("#tip")).to_contain_text("of 2 open")
        panel.locator("select").select_option(label="b")
        expect(page.locator("#tip")).to_be_hidden()
        page.mouse.move(2, 2)
        candidate(page, "h.x.conv_3").locator("text").hover()
        expect(page.locator("#tip strong")).to_have_text("part b.h <- x: conv_3")
        page.locator('details.panel[data-panel="0"] .vertex[data-name="a"]').click()  # the box leads to its use
        expect(panel.locator("select")).to_have_value("0")


def test_several_uses_are_listed(visit: Visit, own_switches: Path) -> None:
    with visit(own_switches) as page:
        candidate(page, "h.x.conv_3").locator("text").click()
        expect(page.locator("#detail li")).to_have_count(2)
        page.locator("#detail li button").nth(1).click()
        expect(page.locator("#detail h3")).to_have_text("part b.h <- x: conv_3")


def test_playing_ends_with_what_was_derived(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        page.locator("#play").click()
        expect(page.locator("#moment-text")).to_contain_text("before the search")
        expect(page.locator("#moment-text")).to_contain_text("derived", timeout=30_000)
        expect(page.locator("#play")).to_have_text("▶")


@pytest.mark.long
def test_thousands_of_edges(browser: Browser, tmp_path: Path) -> None:
    run = read_reported_run(searched(tmp_path / "run", "tree_cell", iterations=2))
    file = tmp_path / "graph.html"
    file.write_text(render_page("tree_cell", Markup(""), [graph_section(run)]), encoding="utf-8")
    with browsers.opened(browser, file) as found:
        page = found.page
        assert len(switches(page)) == 5832
        assert page.locator("svg *").count() < 3000  # what is alike is drawn once
        page.locator("#find").fill("h.7.y.branch.2.max_pool")
        page.keyboard.press("Enter")
        expect(page.locator("#tip strong")).to_have_text("tree h[7].y.branch[2]: max_pool")
        expect(page.locator('details.panel[data-panel="2"] select option:checked')).to_have_text("h.7.y")
        assert found.complaints == []


def test_a_text_cannot_become_markup(visit: Visit, tmp_path: Path) -> None:
    evil = "</code></pre></script><img src=x onerror=console.error(1)><script>console.error(2)</script>"
    space = tmp_path / "<b>&.nas"
    space.write_text(f"//! {evil}\n{OWN_SWITCHES.replace('node h', f'node h // {evil}')}")
    with visit(searched(tmp_path / "<i>run", space)) as page:
        expect(page.locator(".about")).to_contain_text("<i>run · search")
        assert page.locator("#space code").first.evaluate("it => it.textContent").count(evil) == 2
        candidate(page, "h.x.conv_3").locator("text").hover()
        expect(page.locator("#tip")).to_contain_text("<b>&.nas")


def test_names_cannot_become_markup(visit: Visit, tmp_path: Path) -> None:
    folder = searched(tmp_path / "run")
    evil = "<img src=x onerror=console.error(1)></script><script>console.error(2)</script>"
    edit_json(folder / "run.json", lambda manifest: manifest.update(space=evil))
    with visit(folder) as page:
        expect(page.locator(".about")).to_contain_text(evil)
