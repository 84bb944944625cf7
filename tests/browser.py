"""A real browser for tests: opens pages from files and records their errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
DESK, PHONE = 1280, 400  # widths
HEIGHT = 900


@dataclass
class Opened:
    """A page with its console messages and requests."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def program() -> str:
    """The browser executable. Skips the test if there is none."""
    found = os.environ.get("BROWSER_FOR_TESTS") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(
            f"there is no browser here: install one of {', '.join(NAMES)} (on Debian: apt-get install chromium)"
        )
    return found


@contextmanager
def running() -> Iterator[Browser]:
    """A headless browser."""
    path = program()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser,
    file: Path | str,
    width: int = DESK,
    theme: Literal["light", "dark"] = "light",
    *,
    still: bool = True,
) -> Iterator[Opened]:
    """Open a page, given as a file or an address. Console messages and requests are recorded; requests are blocked.

    If `still`, nothing on the page moves by itself.
    """
    motion: Literal["reduce", "no-preference"] = "reduce" if still else "no-preference"
    size: ViewportSize = {"width": width, "height": HEIGHT}
    context = browser.new_context(viewport=size, color_scheme=theme, reduced_motion=motion, offline=True)
    page = context.new_page()
    found = Opened(page)
    page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(file.as_uri() if isinstance(file, Path) else file)
    yield found
    context.close()
