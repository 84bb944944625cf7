"""Figures of derived cells on a page, for one and several runs."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from bayesnas_graph.report.builder import build_page
from bayesnas_graph.report.cells import cells_section, figures_of, file_stem
from bayesnas_graph.report.reported_run import ReportedRun, read_reported_run
from tests.report.runs import searched


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReportedRun, ReportedRun]:
    """Two searches of a space with two kinds of cells."""
    folder = tmp_path_factory.mktemp("runs")
    first, second = (
        read_reported_run(searched(folder / f"seed-{n}", "darts", iterations=2, seed=n, parameters={"cells": 3}))
        for n in (0, 1)
    )
    return first, second


def downloads(body: str) -> list[str]:
    return re.findall(r'download="([^"]+)"', body)


def test_what_stays_is_in_the_figure(quickstart: Path) -> None:
    run = read_reported_run(quickstart)
    (figure,) = figures_of(run)
    assert (figure.key, figure.title) == ("cell-block", "cell block")
    kept = [name.rpartition(".")[2] for name, final in run.final.items() if final.keep]
    for operation in ("relu_conv_bn", "sep_conv", "max_pool", "identity"):
        assert figure.light.svg.count(f">{operation}<") - (operation == "relu_conv_bn") == kept.count(operation)
    assert figure.light.svg != figure.dark.svg


def test_both_formats_are_in_the_page(quickstart: Path) -> None:
    body = cells_section(read_reported_run(quickstart)).body
    assert downloads(body) == ["cell-block.svg", "cell-block.pdf"]
    (pdf,) = re.findall(r'href="data:application/pdf;base64,([^"]+)', body)
    assert base64.b64decode(pdf).startswith(b"%PDF")
    light, dark = (unquote(unescape(svg)) for svg in re.findall(r'src="data:image/svg\+xml,([^"]+)', body))
    (figure,) = figures_of(read_reported_run(quickstart))
    assert (light, dark) == (figure.light.svg, figure.dark.svg)


def test_a_cell_of_all_runs_side_by_side(two: tuple[ReportedRun, ReportedRun]) -> None:
    body = cells_section(*two, left_out=3).body
    files = [name for name in downloads(body) if name.endswith(".svg")]
    assert files == [f"seed-{n}-cell-{cell}.svg" for cell in ("normal", "reduction") for n in (0, 1)]
    assert "<strong>seed-1 · cell reduction</strong>" in body
    assert "The cells of 3 more runs are left out." in body


def test_files_of_runs_in_several_folders(quickstart: Path) -> None:
    (figure,) = figures_of(read_reported_run(quickstart))
    assert file_stem(figure, "a/run") == "a-run-cell-block"


def test_nothing_was_derived(quickstart: Path) -> None:
    run = replace(read_reported_run(quickstart), final={})
    assert figures_of(run) == []
    assert "Nothing has been derived yet." in cells_section(run).body


def test_the_cell_of_the_most_accurate_run_is_beside_the_headline(
    quickstart: Path, trained: Path, tmp_path: Path
) -> None:
    other = searched(tmp_path / "other", seed=1)
    results = {path: json.loads((path / "result.json").read_text()) for path in (quickstart, other)}
    order = {path: (result["accuracy"], -result["parameters"]) for path, result in results.items()}
    best = max(order, key=order.__getitem__)
    assert len(set(order.values())) == 2
    html = build_page([quickstart, other]).html()
    assert f"{best.name} · cell block, as derived</a>" in html
    first = html.partition('<figure class="first">')[2].partition("</figure>")[0]
    figure, *_ = figures_of(read_reported_run(best))
    assert figure.light.svg == unquote(unescape(re.findall(r'src="data:image/svg\+xml,([^"]+)', first)[0]))
    assert '<figure class="first">' not in build_page([trained, trained]).html()
