"""The report that the page about reports shows: `python -m website.demo` makes it, of a short search.

Without it the site is the same, but for the frame with the report.
"""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

from bayesnas_graph.cli.main import app
from website.links import ROOT

RUN = Path("build", "docs-demo", "run")  # in the checkout
REPORT = ROOT / RUN / "report.html"
SETTINGS = ("threads=1", "iterations=6", "steps=16", "warmup=16", "finish=40")
SHOWN = "report-demo/report.html"


def make() -> None:
    """Search for a few seconds and write the report of it."""
    settings = [word for setting in SETTINGS for word in ("-s", setting)]
    with chdir(ROOT):  # the report shows how the search was started
        shutil.rmtree(RUN, ignore_errors=True)
        app(["search", "quickstart", "-o", str(RUN), *settings], standalone_mode=False)
        app(["report", str(RUN)], standalone_mode=False)


def files() -> dict[str, str]:
    """Return the report as a file of the site, if it was made."""
    return {SHOWN: REPORT.read_text()} if REPORT.is_file() else {}


def embedded(text: str) -> str:
    """Return the page about reports with the report on it, before its second section, if it was made."""
    if not REPORT.is_file():
        return text
    frame = (
        "## A report to try\n\nOf a search of a few seconds, shorter than a useful one: "
        f"[open it on a page of its own]({SHOWN}).\n\n"
        f'<iframe class="report" src="{SHOWN}" title="The report of a short search" loading="lazy"></iframe>\n\n'
    )
    first, heading, rest = text.partition("\n## ")
    return f"{first}\n{frame}{heading.lstrip()}{rest}"


if __name__ == "__main__":
    make()
