"""A sweep on a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.report.sweep_section import sweep_section
from bayesnas_graph.runs.sweep.folder import SweepFolder
from tests.runs.sweep.sweeps import asked, finish


@pytest.fixture
def folder(tmp_path: Path) -> SweepFolder:
    found = SweepFolder(tmp_path)
    found.own.write(found.request_file, asked("lambda=0.1,0.2", seeds=2, data="digits").model_dump_json())
    return found


def test_all_is_done(folder: SweepFolder) -> None:
    for number, point in enumerate(folder.request().points()):
        finish(folder, point, parameters=1000 + number)
    part = sweep_section(folder.path)
    assert "All 4 runs are done." in part.body
    assert '<td>0.2</td><td class="number">2 of 2</td><td class="number">1,002 (1,002-1,003)</td>' in part.body
    assert '<td>0.2</td><td class="number">1</td><td>done</td><td class="number">1,003</td>' in part.body
    assert [chart.key for chart in part.charts] == ["sweep-weights", "sweep-accuracy", "sweep-trade"]
    assert part.charts[0].title == "Parameters by lambda"
    assert "Failed" not in part.body


def test_unfinished_and_failed(folder: SweepFolder) -> None:
    first, second, *_ = folder.request().points()
    finish(folder, first)
    folder.table.write_text(f'folder,state,error\n"{second.name}",failed,error: <b>no room</b>\n')
    part = sweep_section(folder.path)
    assert "1 of 4 runs are done, 2 waiting, 1 failed." in part.body
    assert "<td>lambda=0.1 seed=1</td><td>error: &lt;b&gt;no room&lt;/b&gt;</td>" in part.body
    assert len(part.charts) == 3


def test_nothing_is_done(folder: SweepFolder) -> None:
    part = sweep_section(folder.path)
    assert "0 of 4 runs are done, 4 waiting." in part.body
    assert part.charts == ()


def test_seeds_alone(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path)
    folder.own.write(folder.request_file, asked(seeds=2, data="digits").model_dump_json())
    for point in folder.request().points():
        finish(folder, point)
    part = sweep_section(folder.path)
    assert [chart.key for chart in part.charts] == ["sweep-trade"]


def test_no_sweep(tmp_path: Path) -> None:
    with pytest.raises(NasError, match="is not a sweep folder"):
        sweep_section(tmp_path)
