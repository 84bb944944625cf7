"""What a visitor sees first, links into a page, and pages on phones and on paper, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import browser as browsers
from tests.report.conftest import Visit
from tests.report.test_browser import candidate, move, scroll_through

WIDE = 1440
DERIVED = "derived · "


def box(page: Page, selector: str) -> dict[str, float]:
    """The position of an element in the window."""
    found: dict[str, float] = page.locator(selector).first.evaluate("it => it.getBoundingClientRect().toJSON()")
    return found


def search_of(page: Page) -> Any:
    return page.evaluate("page.search.moment")


# ---- the first screen


def test_the_headline_comes_from_the_numbers(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        title = page.title().replace("\N{NO-BREAK SPACE}", " ")
        derived = page.evaluate("page.data.graph.moments.at(-1)")
        assert title == f"quickstart on digits: 91.25 % with {derived['parameters']:,} parameters"
        expect(page.locator("h1")).to_have_text(title)
        expect(page.locator(".lead")).to_contain_text("30 switches were closed, which took the network from 45,650 to")


def test_the_cell_is_on_the_first_screen(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart, width=WIDE) as page:
        for selector in (".first img.on-light", "#play", "#moment", "#moment-text", ".panel .picture svg"):
            assert 0 <= box(page, selector)["top"] < box(page, selector)["bottom"] <= browsers.HEIGHT, selector
        first = page.locator("details.panel").first
        assert first.locator(".candidate").count() > 0
        assert box(page, "#moment-text")["bottom"] <= box(page, "details.panel")["top"]


def test_the_figure_of_a_cell_can_be_saved(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        with page.expect_download() as saved:
            page.locator("#cells a", has_text="SVG").click()
        assert saved.value.suggested_filename == "cell-block.svg"
        assert saved.value.path().read_text(encoding="utf-8").startswith("<svg")


# ---- playing by itself


def test_it_plays_once_and_ends_with_what_was_derived(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart, still=False) as page:
        page.evaluate("window.seen = []; page.moment.subscribe(() => seen.push(page.moment.index))")
        expect(page.locator("#play")).to_have_text("❚❚")
        expect(page.locator("#moment-text")).to_contain_text(DERIVED)
        expect(page.locator("#play")).to_have_text("▶")
        seen = page.evaluate("seen")
        assert seen == sorted(seen)
        assert seen[-1] == page.evaluate("page.moment.last")
        assert page.evaluate("location.hash") == ""


@pytest.mark.parametrize(
    ("anchor", "still", "text"),
    [("", True, DERIVED), ("#update=2", False, "update 2 of 5"), ("#curves", False, DERIVED)],
)
def test_it_does_not_play(visit: Visit, quickstart: Path, anchor: str, still: bool, text: str) -> None:
    with visit(quickstart, anchor=anchor, still=still) as page:
        expect(page.locator("#play")).to_have_text("▶")
        expect(page.locator("#moment-text")).to_contain_text(text)


def test_whoever_touches_the_page_ends_it(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart, still=False) as page:
        expect(page.locator("#play")).to_have_text("❚❚")
        page.keyboard.press("Shift")
        expect(page.locator("#play")).to_have_text("▶")
        expect(page.locator("#moment-text")).to_contain_text(DERIVED)
        move(page, 1)
        expect(page.locator("#moment-text")).to_contain_text("update 1 of 5")


# ---- links


def test_a_link_opens_an_update_and_a_switch(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart, anchor="#update=3&switch=block:h.2.entry.sep_conv") as page:
        expect(page.locator("#moment-text")).to_contain_text("update 3 of 5")
        expect(page.locator("#detail h3")).to_have_text("block h[2] <- entry: sep_conv")
        assert search_of(page) == 3
        page.evaluate("location.hash = '#update=0&switch=h.0.sep_conv'")  # without the cell
        expect(page.locator("#detail h3")).to_have_text("block h[0]: sep_conv")
        expect(page.locator("#moment-text")).to_contain_text("before the search")


def test_the_address_follows_the_page(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart) as page:
        before = page.evaluate("history.length")
        move(page, 2)
        page.wait_for_function("location.hash === '#update=2'")
        candidate(page, "h.0.sep_conv").locator("text").click()
        page.wait_for_function("location.hash === '#update=2&switch=block:h.0.sep_conv'")
        page.keyboard.press("Escape")
        page.wait_for_function("location.hash === '#update=2'")
        move(page, 6)
        page.wait_for_function("location.hash === ''")
        assert page.evaluate("history.length") == before


@pytest.mark.parametrize("width", [WIDE, browsers.PHONE])
def test_links_to_sections_land_on_them(visit: Visit, quickstart: Path, width: int) -> None:
    with visit(quickstart, width=width, still=False) as page:
        keys = page.locator("nav a").evaluate_all("all => all.map((it) => it.hash.slice(1))")
        assert keys[0] == "graph"
    distance = """key => {
        const padding = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
        return Math.abs(document.getElementById(key).getBoundingClientRect().top - padding);
    }"""
    near = """() => [...document.querySelectorAll(".plot[data-chart]")].every((it) => {
        const { top, bottom } = it.getBoundingClientRect();
        return !it.checkVisibility() || bottom < 0 || top > innerHeight || it.dataset.drawn;
    })"""
    for key in keys:
        with visit(quickstart, width=width, still=False) as page:
            page.locator(f"nav a[href='#{key}']").click()
            page.wait_for_function("scrollY > 0")
            page.wait_for_function(near)
            assert page.evaluate(distance, key) <= 2, key


# ---- phones and paper


def test_the_bar_on_a_phone_is_low(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart, width=browsers.PHONE) as page:
        page.set_viewport_size({"width": browsers.PHONE, "height": 800})
        move(page, 2)  # with the longest line of numbers
        page.evaluate("document.querySelector('details.panel').scrollIntoView()")
        bars = """() => [...document.querySelectorAll("*")]
            .filter((it) => ["fixed", "sticky"].includes(getComputedStyle(it).position) && !it.closest(".listing"))
            .map((it) => it.getBoundingClientRect())
            .filter(({ top, bottom }) => top < 1 && bottom > 0).map(({ height }) => height)"""
        heights = page.evaluate(bars)
        assert len(heights) == 1
        assert heights[0] < 800 / 8


def test_nothing_but_pictures_scrolls_sideways_on_a_phone(visit: Visit, quickstart: Path) -> None:
    with visit(quickstart, width=browsers.PHONE) as page:
        scroll_through(page)
        wide = """() => [...document.querySelectorAll("body, body *")]
            .filter((it) => it.scrollWidth > it.clientWidth + 1)
            .filter((it) => ["auto", "scroll"].includes(getComputedStyle(it).overflowX))
            .filter((it) => !it.matches(".picture, .plot, .scroll:has(> img)"))
            .map((it) => it.outerHTML.slice(0, 200))"""
        assert page.evaluate(wide) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= browsers.PHONE


def test_nothing_is_cut_on_paper(visit: Visit, quickstart: Path) -> None:
    paper = 700  # pixels: the width of a page without its margins
    with visit(quickstart, theme="dark") as page:
        scroll_through(page)
        page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = false; })")
        page.set_viewport_size({"width": paper, "height": 1000})
        page.emulate_media(media="print")
        page.wait_for_function("document.documentElement.dataset.theme === 'light'")
        expect(page.locator(".plot[data-drawn=dark]")).to_have_count(0)
        pictures = page.locator(".panel .picture svg, .plot svg.marks, .figures img.on-light, .first img.on-light")
        assert pictures.count() >= 6
        for picture in pictures.all():
            edges = picture.evaluate("it => [it.getBoundingClientRect().left, it.getBoundingClientRect().right]")
            assert 0 <= edges[0] < edges[1] <= paper + 1
        inside = (
            "it => [...it.querySelectorAll('text')].every((text) => text.getBoundingClientRect().right <= innerWidth)"
        )
        assert page.locator(".panel .picture").first.evaluate(inside)
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
        page.emulate_media(media="screen")
        page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        assert page.locator("details.panel[open]").count() == 0
