"""The page: sections in one file that needs nothing but a browser, and asks nothing of any other computer."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files

from bayesnas_graph import __version__
from bayesnas_graph.report.charts.static import runtime
from bayesnas_graph.report.charts.theme import config
from bayesnas_graph.report.html import filled, json_script
from bayesnas_graph.report.pictures import rules
from bayesnas_graph.report.pictures.style import LIGHT
from bayesnas_graph.report.section import Section

STYLES = ("page.css", "code.css")
SCRIPTS = ("page.js", "charts.js", "search.js", "panels.js", "detail.js", "find.js", "graph.js")


def page_text(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    from markupsafe import Markup

    first, drawing = _web("theme.js"), runtime()
    scripts = [f"\n{_web(name)}\n" for name in SCRIPTS]
    page = filled(
        "page.html",
        title=title,
        lead=lead,
        sections=sections,
        policy=_policy([first, drawing, *scripts]),
        styles=Markup("\n".join([*map(_web, STYLES), *_picture_styles()])),
        first=Markup(first),
        runtime=Markup(drawing),
        scripts=[Markup(script) for script in scripts],
        data=json_script(_data(sections)),
        version=__version__,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return f"{page}\n"


def _data(sections: Sequence[Section]) -> dict[str, object]:
    """All that the scripts work on."""
    charts = {chart.key: {"title": chart.title, "spec": chart.spec} for part in sections for chart in part.charts}
    own = {key: value for section in sections for key, value in section.data.items()}
    return {"themes": {"light": config(dark=False), "dark": config(dark=True)}, "charts": charts, **own}


def _policy(scripts: Sequence[str]) -> str:
    """What the browser is to hold the page to: these scripts and no others run, and nothing is fetched.

    Vega makes functions out of the expressions of its charts, which is what `unsafe-eval` is for.
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
