"""Runs side by side."""

from __future__ import annotations

from pathlib import Path

from bayesnas_graph.report.comparison_sections import comparison_sections
from bayesnas_graph.report.section import Section
from bayesnas_graph.runs.reading.run import RunRecord
from tests.report.fake_runs import SWITCHES, searched, traced, trained
from tests.runs.reading.compressions import compression

FIRST, SECOND = "cell:h[0].conv", "cell:h[1].conv"


def parts(**runs: RunRecord) -> dict[str, Section]:
    return {section.key: section for section in comparison_sections(runs)}


def test_results() -> None:
    body = parts(a=searched(closed=(FIRST,)), b=trained(), c=traced())["comparison"].body
    cells = '<td class="number">0.7500</td><td class="number">100</td><td class="number">1,000</td>'
    assert f'<td>a</td><td>search</td><td>finished</td>{cells}<td class="number">5 of 6</td>' in body
    assert '<td>b</td><td>train</td><td>finished</td><td class="number">0.8000</td>' in body
    assert '<td>c</td><td>search</td><td>stopped</td><td class="number"></td>' in body


def test_only_settings_that_differ() -> None:
    a = searched(rate=0.1, parameters={"width": 8, "cells": 2})
    b = searched(rate=0.1, parameters={"width": 16, "cells": 2}, target=7)
    body = parts(a=a, b=b)["comparison"].body
    assert '<td>parameters.width</td><td class="number">8</td><td class="number">16</td>' in body
    assert '<td>target</td><td class="number"></td><td class="number">7</td>' in body
    for same in ("rate", "parameters.cells", "seed", "space"):
        assert f"<td>{same}</td>" not in body


def test_settings_of_other_kinds_of_runs_are_not_differences() -> None:
    body = parts(a=searched(draws=1), b=trained(epochs=3), c=trained(epochs=3))["comparison"].body
    assert "<td>draws</td>" not in body
    assert "<td>epochs</td>" not in body
    assert "Settings that differ" not in body


def test_agreement() -> None:
    runs = {"a": searched(), "b": searched((FIRST,)), "c": searched((FIRST, SECOND))}
    body = parts(**runs)["agreement"].body
    assert "Of 4 candidates, 2 are kept by all 3 runs, 2 by some of them, and 0 by none." in body
    assert "0.64 of the candidates" in body  # 3/4, 2/4 and 2/3
    assert "<summary>Kept by all: 2</summary>" in body
    assert "<td>cell</td><td>h[0]</td><td>conv</td><td>kept</td><td></td><td></td>" in body
    assert "<td>cell</td><td>h[1]</td><td>conv</td><td>kept</td><td>kept</td><td></td>" in body
    assert '<td>b</td><td class="number">0.75</td><td class="number">1.00</td><td class="number">0.67</td>' in body
    assert "zero" not in body


def test_unfinished_searches_are_named() -> None:
    assert "more switches may be closed: b." in parts(a=searched(), b=traced())["agreement"].body


def test_spaces_that_differ_are_not_compared() -> None:
    assert "agreement" not in parts(a=searched(), b=traced(switches=SWITCHES[:3]))
    assert "agreement" not in parts(a=searched(), b=trained())
    found = parts(a=searched(), b=searched(), c=traced(switches=SWITCHES[:3]), d=traced(switches=SWITCHES[:3]))
    assert "Of 4 candidates" in found["agreement"].body
    assert "Of 2 candidates" in found["agreement-2"].body


def test_nothing_is_kept() -> None:
    closed = tuple(switch.name for switch in SWITCHES)
    assert "0 are kept by all 2 runs" in parts(a=searched(closed), b=searched(closed))["agreement"].body


def test_curves_of_each_kind(tmp_path: Path) -> None:
    everything = parts(a=searched(), b=trained(), c=compression(tmp_path).record)
    assert list(everything) == ["comparison", "curves", "training"]
    assert {v["run"] for v in everything["training"].charts[0].spec["data"]["values"]} == {"b"}
    assert list(parts(b=trained(), c=trained())) == ["comparison", "training"]


def test_keys_of_charts_differ() -> None:
    keys = [chart.key for part in parts(a=searched(), b=searched(), c=trained()).values() for chart in part.charts]
    assert len(keys) == len(set(keys))
