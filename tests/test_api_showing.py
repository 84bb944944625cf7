"""Pictures, pages and the progress of runs as values: the functions behind `draw`, `report`, `status` and `data`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.report.results import SearchResult
from tests.cli.conftest import Run, run
from tests.data.files import write_mnist
from tests.search.spaces import SHORT, TINY

__all__ = ["run"]
SETTINGS: dict[str, Any] = {**SHORT, "threads": 1}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> SearchResult:
    return api.search(api.Text(TINY, "tiny.nas"), output=tmp_path_factory.mktemp("runs") / "run", **SETTINGS)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BAYESNAS_DATA", raising=False)
    (tmp_path / "tiny.nas").write_text(TINY)
    return tmp_path


def test_a_drawing_is_what_the_command_writes(here: Path, run: Run) -> None:
    drawing = api.draw("tiny.nas")
    run("draw", "tiny.nas")
    assert drawing.svg == Path("net.svg").read_text()
    assert api.draw(api.load("tiny.nas")).svg == api.draw(api.Text(TINY, "tiny.nas")).svg == drawing.svg
    run("draw", "tiny.nas", "--figure", "--mono", "-o", "paper.svg")
    figures = {f"paper-{name}.svg": content for name, content in drawing.figures(mono=True).items()}
    assert len(figures) > 1
    assert figures == {path.name: path.read_bytes() for path in here.glob("paper-*.svg")}
    assert [*api.draw("tiny.nas", cells=["block"]).figures()] == ["block"]


def test_pictures_are_written_by_their_ending(here: Path) -> None:
    drawing = api.draw("tiny.nas", "net.dot")
    assert Path("net.dot").read_bytes() == drawing.page("dot")
    api.draw("tiny.nas", "net.dot")  # nothing changes
    with pytest.raises(NasError, match="already exists"):
        api.draw("lenet5", "net.dot")
    api.draw("lenet5", "net.dot", force=True)
    assert Path("net.dot").read_bytes() == api.draw("lenet5").page("dot")
    with pytest.raises(NasError, match="no known ending"):
        api.draw("tiny.nas", "net.jpeg")
    assert not Path("net.jpeg").exists()


def test_the_result_of_a_search_and_given_architectures_are_drawn(found: SearchResult) -> None:
    result, space = api.draw(found), api.draw(found, whole=True)
    assert space.svg == api.draw("tiny.nas").svg
    assert result.svg == api.draw(str(found.path)).svg
    assert result.svg != space.svg
    kept = api.sample(found.network).drawn[0].switches
    given = api.draw("tiny.nas", keep=kept)
    assert given.svg == api.draw(found.network, keep=kept).svg != space.svg
    with pytest.raises(NasError, match="is a folder"):
        api.draw(found, keep=kept)
    with pytest.raises(TypeError, match="not both"):
        api.draw("tiny.nas", keep=kept, architecture="")


def test_a_report_is_a_page_and_files(found: SearchResult) -> None:
    page = api.report(found)
    assert not [*Path().glob("*.html")]
    again = api.report([found, found.path], "both.html")
    assert Path("both.html").read_text() == again.html() != page.html()
    with pytest.raises(NasError, match="already exists"):
        api.report(found, "both.html")
    api.report(found, "both.html", movie="movie.svg", force=True)
    assert Path("both.html").read_text() == page.html()
    assert "<svg" in Path("movie.svg").read_text()
    with pytest.raises(NasError, match="no known ending"):
        api.report(found, "one.html", movie="movie.mp4")
    with pytest.raises(NasError, match="so give one run"):
        api.report([found, found], "one.html", movie="two.svg")
    with pytest.raises(TypeError, match="pass `output`"):
        api.report(found, figures="figures")
    with pytest.raises(NasError, match="`nowhere` does not exist"):
        api.report("nowhere")
    assert not Path("one.html").exists()


def test_status_is_what_the_command_prints(found: SearchResult, run: Run) -> None:
    record = api.status(found)
    printed = json.loads(run("status", found.path, "--json").out)
    assert (record.kind, record.state, record.step) == ("search", "finished", printed["step"])
    assert {switch.name: switch.name in record.alive for switch in record.switches} == printed["switches"]
    assert record.warnings == ()
    with (found.path / "updates.csv").open("a") as file:
        file.write("damage\n")
    assert [warning.code for warning in api.status(found).warnings] == ["NAS602"]
    with pytest.raises(NasError, match="`nowhere` does not exist"):
        api.status("nowhere")
    with pytest.raises(NasError, match="is not a sweep folder"):
        api.sweep_status(found.path)


def test_data_sets_and_their_download(here: Path) -> None:
    listed = {one.name: one for one in api.data_list()}
    assert (listed["mnist"].is_available, listed["mnist"].folder, listed["mnist"].has_files) == (False, None, True)
    assert listed["shapes"].is_available
    assert listed["shapes"].any_shape
    write_mnist(here / "elsewhere" / "mnist")
    (mnist,) = [one for one in api.data_list("elsewhere") if one.name == "mnist"]
    assert mnist.is_available
    assert mnist.folder == Path("elsewhere/mnist")
    with pytest.raises(NasError, match="nothing to download for `digits`"):
        api.data_get("digits")
    with pytest.raises(NasError, match="unknown data set `mnst`"):
        api.data_get("mnst")
