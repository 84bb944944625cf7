"""Fixtures: report pages and a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from bayesnas_graph.report.builder import build_page
from tests import browser as browsers
from tests.report.runs import OWN_SWITCHES, searched, trained_run
from tests.runs.reading.compressions import write_compression

Visit = Callable[..., AbstractContextManager[Page]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with browsers.running() as found:
        yield found


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a search of the shipped quickstart space."""
    return searched(tmp_path_factory.mktemp("runs") / "quickstart")


@pytest.fixture(scope="session")
def own_switches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder for a space in which every use of a motif has its own switches."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "two.nas").write_text(OWN_SWITCHES)
    return searched(folder / "two", folder / "two.nas")


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a finished training run."""
    return trained_run(tmp_path_factory.mktemp("runs") / "trained")


@pytest.fixture(scope="session")
def compressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a finished compression run, whose space cannot be read."""
    return write_compression(tmp_path_factory.mktemp("runs") / "compressed").path


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The page of the given runs as a file, written once."""
    made: dict[tuple[Path, ...], Path] = {}

    def write(*runs: Path) -> Path:
        if runs not in made:
            made[runs] = tmp_path_factory.mktemp("pages") / "report.html"
            made[runs].write_text(build_page(runs).html(), encoding="utf-8")
        return made[runs]

    return write


@pytest.fixture
def visit(browser: Browser, written: Callable[..., Path]) -> Visit:
    """Opens the page of the given runs, and finally checks that there were no errors and no requests."""

    @contextmanager
    def go(
        *runs: Path,
        width: int = browsers.DESK,
        theme: Literal["light", "dark"] = "light",
        anchor: str = "",
        still: bool = True,
    ) -> Iterator[Page]:
        url = f"{written(*runs).as_uri()}{anchor}"
        with browsers.opened(browser, url, width, theme, still=still) as found:
            yield found.page
            assert found.complaints == []
            requests = {address.partition("#")[0] for address in found.requests}
            assert {address for address in requests if not address.startswith(("data:", "blob:"))} == {
                written(*runs).as_uri()
            }

    return go
