"""The site builds without warnings, needs no network, and shows formulas, `.nas` and the reference.

It is built once, with two spaces in the gallery: all of them take longer. `make docs` builds and checks all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import isclass, isfunction
from pathlib import Path
from typing import Literal

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Browser

from bayesnas_graph import api, bayes, builder, derive, passes
from tests import browser
from tests.conftest import ROOT
from website import demo
from website.check import problems, seen
from website.reference import VALUES

pytestmark = pytest.mark.filterwarnings("ignore")  # of MkDocs and its plugins, about each other
REPORT = "<!doctype html><html><head><title>a report</title></head><body>a report</body></html>"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        patch.setattr(demo, "REPORT", folder / "report.html")
        demo.REPORT.write_text(REPORT)
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder / "site"), strict=True)
        config.extra["gallery"] = ["quickstart", "std"]
        build(config)
    return folder / "site"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.running() as program:
        yield program


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_the_network(site: Path) -> None:
    assert list(problems(site)) == []


def test_no_page_names_the_machine_that_built_it(site: Path) -> None:
    written = [file for ending in ("html", "svg", "json", "js") for file in site.rglob(f"*.{ending}")]
    assert [file for file in written if str(ROOT) in file.read_text()] == []


def test_formulas_are_mathml(site: Path) -> None:
    page = (site / "bayes.html").read_text()
    assert page.count("<math ") > 40
    assert "<mtable " in page
    assert "arithmatex" not in page
    for source in (site / "bayes.html", site / "worth.html", site / "dependency.html"):
        assert "\\frac" not in source.read_text()


def test_spaces_are_highlighted(site: Path) -> None:
    page = (site / "language.html").read_text()
    assert re.search(r'<span class="k">cell</span>', page)
    assert '<div class="error highlight">' in page
    assert "nas,error" not in page


def test_the_reference_has_the_public_names(site: Path) -> None:
    for module in (api, bayes, builder, derive, passes):
        anchors = seen(site / "reference" / f"{module.__name__}.html").anchors
        public = {name: getattr(module, name) for name in module.__all__}
        documented = {name for name, value in public.items() if isfunction(value) or isclass(value)}
        assert len(documented) > 5
        places = {name: {f"{module.__name__}.{name}", f"{module.__name__}.{name}.{name}"} for name in documented}
        assert [name for name, place in places.items() if not place & anchors] == []


def test_the_reference_has_what_the_verbs_return(site: Path) -> None:
    page = site / "reference" / "values.html"
    anchors = seen(page).anchors
    assert set(VALUES) <= anchors
    assert {f"{VALUES[0]}.{name}" for name in ("network", "architectures")} <= anchors
    assert "<p>settings of all switches</p>" in page.read_text()


def test_examples_of_docstrings_are_blocks(site: Path) -> None:
    for page in (site / "reference").glob("*.html"):
        assert "<p>&gt;&gt;&gt;" not in page.read_text()
        assert "<blockquote>" not in page.read_text()


def test_the_gallery(site: Path) -> None:
    page = (site / "gallery.html").read_text()
    assert 'src="gallery/quickstart-light.svg#only-light"' in page
    assert (site / "gallery" / "quickstart-dark.svg").is_file()
    assert "<td>1.68e7</td>" in page
    assert "quickstart.toml" in page


def test_the_report_of_a_search_is_on_its_page(site: Path) -> None:
    assert 'src="report-demo/report.html"' in (site / "report.html").read_text()
    assert (site / "report-demo" / "report.html").read_text() == REPORT


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [browser.DESK, browser.PHONE])
def test_pages_in_a_browser(site: Path, chromium: Browser, width: int, theme: Literal["light", "dark"]) -> None:
    for name in ("index", "bayes", "language", "gallery", "reference/bayesnas_graph.api"):
        with browser.opened(chromium, site / f"{name}.html", width, theme) as found:
            assert [line for line in found.complaints if line.startswith("error")] == []
            assert not [url for url in found.requests if not url.startswith(("file:", "data:", "about:", "blob:"))]
            assert found.page.evaluate("document.documentElement.scrollWidth") <= width
            hidden = found.page.locator("img[src$='#only-dark']" if theme == "light" else "img[src$='#only-light']")
            assert not any(picture.is_visible() for picture in hidden.all())


def test_search_works_from_files(site: Path, chromium: Browser) -> None:
    with browser.opened(chromium, site / "index.html") as found:
        found.page.locator("[data-md-component=search-query]").press_sequentially("proximal")
        result = found.page.locator(".md-search-result__item a").first
        result.wait_for()
        assert "bayes.html" in (result.get_attribute("href") or "")
