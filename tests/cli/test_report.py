"""The command `report`, in this process."""

from __future__ import annotations

import re
import shutil
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from bayesnas_graph.cli.report import report
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.packages import EXTRAS
from bayesnas_graph.report.builder import build_page
from tests.report.runs import searched

Reported = Callable[..., str]


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Reported:
    """Run the command in an empty folder and return its output."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(report)
    monkeypatch.chdir(tmp_path)

    def go(*arguments: str) -> str:
        app(list(arguments), standalone_mode=False)
        return capsys.readouterr().out

    return go


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return searched(tmp_path_factory.mktemp("made") / "run", iterations=3)


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A run folder `run` in the working directory."""
    return Path(shutil.copytree(made, tmp_path / "run"))


def test_the_page_is_written_to_the_run_folder_again(reported: Reported, run: Path) -> None:
    assert reported("run") == f"wrote {Path('run/report.html')}\n"
    assert (run / "report.html").read_text().startswith("<!doctype html>")
    (run / "report.html").write_text("an old one")
    reported("run")
    assert (run / "report.html").read_text().startswith("<!doctype html>")


def test_a_file_that_is_named_is_not_replaced_unasked(reported: Reported, run: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    with pytest.raises(NasError, match=r"NAS012: `page\.html` already exists"):
        reported("run", "-o", "page.html")
    assert (tmp_path / "page.html").read_text() == "mine"
    reported("run", "-o", "page.html", "--force")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_several_runs_are_compared(reported: Reported, run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "other")
    assert reported("run", "other") == "wrote comparison.html\n"
    text = (tmp_path / "comparison.html").read_text()
    assert "<h1>2 runs of quickstart on digits: 91.25\N{NO-BREAK SPACE}% with " in text
    assert "comparison: run · other" in text
    with pytest.raises(NasError, match=r"NAS012: `comparison\.html` already exists"):
        reported("run", "other")


def test_figures_are_files_as_well(reported: Reported, run: Path, tmp_path: Path) -> None:
    page, printed = reported("run", "--figures", "figures").splitlines()
    assert page == f"wrote {Path('run/report.html')}"
    names = set(re.findall(r"[\w-]+\.(?:svg|pdf)", printed))
    assert printed.endswith(" to figures")
    assert {"cell-block.svg", "cell-block.pdf", "curves-progress.svg", "curves-progress.pdf"} <= names
    files = {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert files.keys() == names
    assert all(content.startswith(b"%PDF" if name.endswith("pdf") else b"<svg") for name, content in files.items())
    with pytest.raises(NasError, match=r"NAS012: .* already exists"):
        reported("run", "--figures", "figures")


def test_an_unfinished_run_has_a_page(reported: Reported, run: Path) -> None:
    for name in ("result.json", "decision.json"):
        (run / name).unlink()
    reported("run")
    text = (run / "report.html").read_text()
    assert "on held-out samples after 3 updates</h1>" in text
    assert "the search was stopped; its steps and updates took " in text
    assert "Nothing has been derived yet." in text


def test_a_run_without_steps_has_a_page(reported: Reported, run: Path) -> None:
    for name in ("result.json", "decision.json", "metrics.csv", "updates.csv", "switches.csv"):
        (run / name).unlink()
    reported("run")
    assert "There has been no update yet." in (run / "report.html").read_text()


@pytest.mark.parametrize("damaged", [b'"\x00\xff,{\n' * 50, b'{"verdicts": [{"name": 3}, 7]}\na,b\n'])
@pytest.mark.parametrize("name", ["result.json", "decision.json", "metrics.csv", "updates.csv", "switches.csv"])
def test_damaged_files_are_reported_and_omitted(reported: Reported, run: Path, name: str, damaged: bytes) -> None:
    (run / name).write_bytes(damaged)
    found = build_page([run])
    (warning,) = found.warnings
    assert (warning.code, warning.severity) == ("NAS602", "warning")
    assert warning.message == f"cannot read `{run / name}`: it is damaged"
    reported("run")
    assert f"{name}`: it is damaged; its content is omitted." in (run / "report.html").read_text()


def test_an_incomplete_line_is_not_damage(run: Path) -> None:
    for name in ("metrics.csv", "updates.csv", "switches.csv"):
        with (run / name).open("a") as file:
            file.write("7,0.")
    assert build_page([run]).warnings == ()


def test_a_space_that_is_gone_leaves_a_shorter_page(
    reported: Reported, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "space" / "quickstart.nas").write_text("network broken {")
    reported("run")
    text = (run / "report.html").read_text()
    assert "The network cannot be shown:" in text
    assert 'id="curves-title"' in text


@pytest.mark.parametrize("name", ["nowhere", "empty", "file"])
def test_not_a_run_folder(reported: Reported, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    problem = "does not exist" if name == "nowhere" else "is not a run folder"
    with pytest.raises(NasError, match=f"NAS602: `{name}` {problem}"):
        reported(name)
    assert not (tmp_path / name / "report.html").exists()


def test_one_folder_among_others_is_not_a_run(reported: Reported, run: Path, tmp_path: Path) -> None:
    with pytest.raises(NasError, match="NAS602: `nowhere` does not exist"):
        reported("run", "nowhere")
    assert not (tmp_path / "comparison.html").exists()


def test_a_place_that_cannot_be_written(reported: Reported, run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NasError, match=r"NAS012: cannot write `file/page\.html`"):
        reported("run", "-o", "file/page.html")


@pytest.mark.parametrize(("module", "package"), EXTRAS["report"].items())
def test_without_the_packages(
    reported: Reported, run: Path, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NasError, match=f"NAS609: reports need the package `{package}`") as caught:
        reported("run")
    assert caught.value.diagnostics[0].help == f"install it with `pip install {package}`"
    assert not (run / "report.html").exists()


def test_opens_a_browser_when_asked(reported: Reported, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    reported("run", "--open")
    assert opened == [(run / "report.html").resolve().as_uri()]


@pytest.mark.parametrize("name", ["movie.svg", "movie.gif"])
def test_a_movie_is_a_file_as_well(reported: Reported, run: Path, tmp_path: Path, name: str) -> None:
    assert reported("run", "--movie", name).splitlines() == [f"wrote {Path('run/report.html')}", f"wrote {name}"]
    assert (tmp_path / name).read_bytes().startswith(b"<svg" if name.endswith("svg") else b"GIF89a")
    (tmp_path / name).write_text("mine")
    with pytest.raises(NasError, match=r"NAS012: `movie\.\w+` already exists"):
        reported("run", "--movie", name)


def test_a_movie_is_one_search_and_an_svg_or_a_gif(reported: Reported, run: Path, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match=r"`movie\.mp4` has no known ending: use \.svg or \.gif"):
        reported("run", "--movie", "movie.mp4")
    shutil.copytree(run, tmp_path / "other")
    with pytest.raises(typer.BadParameter, match="a movie shows one search, so give one run"):
        reported("run", "other", "--movie", "movie.svg")
