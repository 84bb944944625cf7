"""The page: a single HTML file that works offline and makes no network requests."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from bayesnas_graph import __version__
from bayesnas_graph.report.charts.theme import config
from bayesnas_graph.report.charts.vega import vega_runtime
from bayesnas_graph.report.palette import LIGHT
from bayesnas_graph.report.pictures import rules
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.templates import json_script, render_template, trusted

if TYPE_CHECKING:
    from markupsafe import Markup

STYLES = ("page.css", "code.css", "charts.css")
SCRIPTS = (
    "page.js", "moment.js", "cursor.js", "charts.js", "search.js", "panels.js", "detail.js", "find.js", "marks.js",
    "graph.js", "player.js", "address.js",
)  # fmt: skip


def render_page(title: str, top: Markup, sections: Sequence[Section]) -> str:
    """Return the HTML of the page. `top` comes before the list of sections."""
    first, vega = _web("theme.js"), vega_runtime()
    scripts = [f"\n{_web(name)}\n" for name in SCRIPTS]
    page = render_template(
        "page.html",
        title=title,
        top=top,
        sections=sections,
        policy=_policy([first, vega, *scripts]),
        styles=trusted("\n".join([*map(_web, STYLES), *_picture_styles()])),
        first=trusted(first),
        runtime=trusted(vega),
        scripts=[trusted(script) for script in scripts],
        data=json_script(_data(sections)),
        version=__version__,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return f"{page}\n"


def _data(sections: Sequence[Section]) -> dict[str, object]:
    """The data for the scripts."""
    charts = {chart.key: {"spec": chart.spec} for part in sections for chart in part.charts}
    section_data = {key: value for section in sections for key, value in section.data.items()}
    return {"themes": {"light": config(dark=False), "dark": config(dark=True)}, "charts": charts, **section_data}


def _policy(scripts: Sequence[str]) -> str:
    """The content security policy: only these scripts run, and nothing is fetched.

    `unsafe-eval` is needed by Vega, which compiles the expressions of charts.
    """
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _picture_styles() -> Iterator[str]:
    for name, dark in (("light", False), ("dark", True)):
        yield rules(dark, len(LIGHT), f":root[data-theme={name}] .picture")


def _web(name: str) -> str:
    return files("bayesnas_graph.report").joinpath("web", name).read_text(encoding="utf-8")
