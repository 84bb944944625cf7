"""Several threads build parts of pages at once, starting with empty caches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch

from bayesnas_graph.data import Statistics, normalise
from bayesnas_graph.data.normalisation import _shift_and_scale
from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.report import highlight, templates
from bayesnas_graph.report.charts.search import penalty
from bayesnas_graph.report.charts.vega import render_chart
from bayesnas_graph.report.section import Table, build_section

THREADS = 4
NAS = [path.read_text() for path in shipped_spaces()[:THREADS]]
CHART = penalty({"a": [{"step": 1.0, "penalty": 2.0}, {"step": 2.0, "penalty": 1.0}]})


def part(number: int) -> tuple[object, ...]:
    images = torch.full((2, 1, 4, 4), 10 * number, dtype=torch.uint8)
    table = Table(("run", "step"), ((str(number), "1"),))
    return (
        highlight.highlight_lines(NAS[number], "nas"),
        highlight.highlight_lines(f"def f{number}(): return {number}", "python"),
        build_section("s", f"S{number}", tables=[table], charts=[CHART]),
        render_chart(CHART, "svg"),
        normalise(images, Statistics((0.5,), (0.1 + number,))).tolist(),
    )


def test_threads_do_not_disturb_one_another() -> None:
    expected = [part(number) for number in range(THREADS)]
    for cached in (highlight._lexer, highlight._css_class, templates._environment, _shift_and_scale):
        cached.cache_clear()
    start = Barrier(THREADS)

    def build(number: int) -> tuple[object, ...]:
        start.wait()
        return part(number)

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(build, range(THREADS))) == expected
