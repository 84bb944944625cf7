"""Movies of searches: as SVG and as GIF, and what they show at the end."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from PIL.GifImagePlugin import GifImageFile
from playwright.sync_api import Browser

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.report.movie import movie_file, search_movie
from bayesnas_graph.report.pictures import Movie, diagram_of, prune_diagram
from bayesnas_graph.report.reported_run import ReportedRun, read_reported_run

ITERATIONS = 5  # of the run folder
LARGEST = 300_000  # bytes, for a README


@pytest.fixture(scope="module")
def run(quickstart: Path) -> ReportedRun:
    return read_reported_run(quickstart)


@pytest.fixture(scope="module")
def movie(run: ReportedRun) -> Movie:
    return search_movie(run)


def visible_candidates(svg: str) -> set[str]:
    """The gates of the candidates that a still picture shows, of all panels."""
    opacity = {name: float(value) for name, value in re.findall(r"\.(m\d+) \{ opacity: ([\d.]+)", svg)}
    found = set()
    for group in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g"):
        classes = group.get("class", "").split()
        if "candidate" in classes and all(opacity.get(name, 1.0) > 0 for name in classes):
            found.add(group.attrib["data-gate"])
    return found


def open_candidates(run: ReportedRun) -> set[str]:
    """The candidates in the picture of the derived network."""
    assert run.space is not None
    assert run.graph is not None
    kept = {gate.name for gate in run.graph.gates if run.final[gate.group].keep}
    left = prune_diagram(diagram_of(run.space.network), kept)
    return {strand.gate for panel in left.panels for choice in panel.choices for strand in choice.strands}


def test_the_last_frame_is_the_derived_network(run: ReportedRun, movie: Movie) -> None:
    frames = [frame.svg for frame in movie.frames()]
    assert visible_candidates(frames[-1]) == open_candidates(run)
    assert visible_candidates(frames[0]) > visible_candidates(frames[-1])
    assert visible_candidates(movie.svg()) == open_candidates(run), "without animations"


def test_uses_with_switches_of_their_own_are_shown_together(own_switches: Path) -> None:
    run = read_reported_run(own_switches)
    movie = search_movie(run)
    assert visible_candidates(list(movie.frames())[-1].svg) == open_candidates(run)
    assert any(0 < opacity < 1 for parts in movie.parts for way in parts.values() for opacity in way)


def test_a_frame_for_the_start_every_update_and_the_end(movie: Movie) -> None:
    labels = [scene.numbers["search"] for scene in movie.scenes]
    assert labels == ["start", *(f"update {n} of {ITERATIONS}" for n in range(1, ITERATIONS + 1)), "derived"]
    assert len(list(movie.frames())) == len(labels)
    sizes = [int(scene.numbers["parameters"].replace(",", "")) for scene in movie.scenes]
    assert sizes[0] > sizes[-1]
    assert movie.scenes[-1].numbers["accuracy"] == "0.912 test set"


def test_only_what_changes_moves(movie: Movie) -> None:
    svg = movie.svg()
    assert len(svg) < LARGEST
    ET.fromstring(svg)
    assert "<script" not in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    rules = re.findall(r"@keyframes (m\d+)", svg)
    assert len(rules) == len(set(rules)) > len(movie.scenes)
    assert set(re.findall(r"\bm\d+\b", svg.partition("</style>")[2])) <= set(rules)


def test_a_gif_has_the_same_frames(run: ReportedRun, movie: Movie) -> None:
    content = movie_file(run, Path("movie.GIF"))
    assert len(content) < LARGEST
    with Image.open(BytesIO(content)) as image:
        assert isinstance(image, GifImageFile)
        assert image.n_frames == len(movie.scenes)
        assert image.info["loop"] == 0
        assert abs(image.width - movie.width) <= 1
        assert image.convert("RGB").getpixel((40, image.height - 10)) == (255, 255, 255)
        durations = []
        for number in range(image.n_frames):
            image.seek(number)
            durations.append(image.info["duration"] / 1000)
    assert durations == pytest.approx(movie.timing.seconds, abs=0.01)


def test_a_gif_needs_a_package(run: ReportedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(NasError, match="NAS609: animated GIFs need the package `pillow`, which is not installed"):
        movie_file(run, Path("movie.gif"))
    assert movie_file(run, Path("movie.svg")).startswith(b"<svg")


def test_an_unfinished_search_ends_with_its_last_update(quickstart: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(quickstart, tmp_path / "run"))
    for name in ("result.json", "decision.json"):
        (folder / name).unlink()
    movie = search_movie(read_reported_run(folder))
    assert movie.scenes[-1].numbers["search"] == f"update {ITERATIONS} of {ITERATIONS}"
    (folder / "switches.csv").unlink()
    with pytest.raises(NasError, match="NAS602: `run` has no updates yet, and so no movie"):
        search_movie(read_reported_run(folder))


def test_only_a_search_has_a_movie(run: ReportedRun) -> None:
    other = replace(run, record=replace(run.record, manifest={**run.record.manifest, "kind": "train"}))
    with pytest.raises(NasError, match="NAS602: `quickstart` is not a search, and has no movie"):
        search_movie(other)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_moves_unless_the_reader_wants_less_motion(
    browser: Browser, movie: Movie, tmp_path: Path, motion: str
) -> None:
    (tmp_path / "movie.svg").write_text(movie.svg(), encoding="utf-8")
    context = browser.new_context(reduced_motion="reduce" if motion == "reduce" else "no-preference")
    page = context.new_page()
    page.goto((tmp_path / "movie.svg").as_uri())
    assert (page.evaluate("document.getAnimations().length") > 0) == (motion == "no-preference")
    shown = page.evaluate(
        """() => {
            for (const each of document.getAnimations()) {
                each.pause();
                each.currentTime = each.effect.getComputedTiming().duration - 1;
            }
            const seen = (mark) => Number(getComputedStyle(mark).opacity) > 0;
            return [...document.querySelectorAll(".candidate")].filter(seen).map((mark) => mark.dataset.gate);
        }"""
    )
    assert set(shown) == visible_candidates(list(movie.frames())[-1].svg)
    context.close()
