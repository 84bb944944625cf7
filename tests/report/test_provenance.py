"""The provenance of a run, also of unfinished and damaged runs, and escaped."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesnas_graph import api
from bayesnas_graph.cli.main import app
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.report.listing import MAX_BYTES, MAX_LINES
from bayesnas_graph.report.provenance import provenance
from bayesnas_graph.report.repeat_command import repeat_command
from bayesnas_graph.report.reported_run import read_reported_run
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.manifest import read_manifest
from tests.helpers import edit_json
from tests.report.runs import begun, searched

EVIL = "<script>alert(1)</script>\"'&"
FIXED = "network n(w = 4) : image(1, 8, 8) -> classes(10) { in x x -> out : conv(w) > global_avg_pool > linear(10) }"


class Page(HTMLParser):
    """The elements of an HTML fragment: their attributes, and the text of those with an `id`."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, str] = {}
        self.seen = ""
        self._open: list[str] = []
        self.feed(str(html))  # `Markup` would escape what is added to it
        self.close()
        assert not self._open, "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag != "br":
            self._open.append(attributes.get("id", ""))
            self.texts.setdefault(self._open[-1], "")

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.seen += data
        for key in filter(None, self._open):
            self.texts[key] += data

    def of_class(self, name: str) -> Iterator[dict[str, str]]:
        """The attributes of the elements of a class."""
        return (given for _, given in self.elements if name in given.get("class", "").split())


def pages(run: Path, **options: Any) -> dict[str, Page]:
    """The sections by key."""
    return {section.key: Page(section.body) for section in provenance(read_reported_run(run), **options)}


def changed(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    edit_json(run / "run.json", change)


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    begun(tmp_path / "run", load_network(Path("quickstart")), "quickstart")
    return tmp_path / "run"


def test_texts_are_there_to_be_copied_as_they_are(quickstart: Path) -> None:
    found = pages(quickstart)
    architecture = api.derive(quickstart)
    assert found["space"].texts["space-0"] == (quickstart / "space" / "quickstart.nas").read_text()
    assert found["source"].texts["source-0"] == architecture.written.text
    assert found["source"].texts["source-1"] == architecture.model().program.text
    buttons = [given for _, given in found["source"].elements if given.get("class") in ("copy", "save")]
    assert [(given["class"], given["data-for"], given.get("data-name")) for given in buttons] == [
        ("copy", "source-0", None),
        ("save", "source-0", "network.nas"),
        ("copy", "source-1", None),
        ("save", "source-1", "digits.py"),
    ]


def test_lines_have_marks_that_can_be_read_without_colours(quickstart: Path) -> None:
    found = pages(quickstart)["space"]
    marks = list(found.of_class("mark"))
    lines = (quickstart / "space" / "quickstart.nas").read_text().split("\n")
    chosen = marks[next(n for n, line in enumerate(lines) if "choose candidates" in line)]
    assert (chosen["data-mark"], chosen["aria-label"]) == ("~ 6/24", "partly kept")
    assert chosen["title"].startswith("6 of 24 switches left\n+ block:h.")
    assert "not in the architecture" in chosen["title"]
    assert marks[0] == {"class": "mark", "data-mark": ""}
    stem = marks[next(n for n, line in enumerate(lines) if "node stem" in line)]
    assert stem["data-mark"] == "+"
    assert [given["data-class"] for given in found.of_class("toggle")] == ["only-surviving"] * 2


def test_what_is_gone_has_a_class(own_switches: Path) -> None:
    found = pages(own_switches)["space"]
    marks = [given["data-mark"] for given in found.of_class("mark")]
    states = [given["class"] for given in found.of_class("line")]
    assert len(marks) == len(states)
    assert {"+": "line kept", "~": "line partly", "−": "line gone", "": "line"}.items() >= {
        (mark[:1], state) for mark, state in zip(marks, states, strict=True)
    }


def test_the_first_file_is_open_and_others_are_not(quickstart: Path) -> None:
    files = list(pages(quickstart)["space"].of_class("file"))
    assert ["open" in given for given in files] == [True, False]


def test_settings_that_differ_come_first(tmp_path: Path) -> None:
    run = searched(tmp_path / "run", batch=48, parameters={"width": 4})
    (making,) = [section for section in provenance(read_reported_run(run)) if section.key == "making"]
    own, others = making.body.split("<details")
    assert re.findall(r"<tr><td><code>(.*?)</code></td><td><code>(.*?)</code></td><td><code>(.*?)</code>", own) == [
        ("parameters.width", "4", "—"),
        ("data", "digits", "—"),
        ("batch", "48", "64"),
    ]
    assert "samples per step, over all processes" in own
    rest = re.findall(r"<tr><td><code>(.*?)</code>", others)
    assert {"lambda", "seed", "steps", "target_params"} <= set(rest)
    assert len(rest) + 3 == len(SearchConfig.model_fields)


def test_the_fingerprint_is_compared_with_that_of_the_copy(quickstart: Path, tmp_path: Path) -> None:
    assert "matches" in pages(quickstart)["making"].seen
    run = searched(tmp_path / "run")
    copy = run / "space" / "quickstart.nas"
    copy.write_text(copy.read_text().replace("sep_conv(3)", "sep_conv(5)"))
    assert "differs" in pages(run)["making"].seen


def test_the_command_gives_the_settings_of_the_run(tmp_path: Path) -> None:
    width = {"width": 4}
    run = searched(tmp_path / "run", seed=3, batch=48, parameters=width, target_params=9000, curvature="ggn", rate=0.5)
    text = pages(run)["making"].texts["making-command"]
    program, verb, space, *words = shlex.split(text)
    assert (program, verb, space) == ("bayesnas-graph", "search", "quickstart")
    printed = CliRunner().invoke(app, [verb, space, *words, "--settings"]).output
    config = read_manifest(RunFolder(run)).config
    wanted = {**config.to_plain(), "parameters.width": 4, "threads": 1}
    del wanted["parameters"]
    for key, value in wanted.items():
        assert re.search(rf"^{re.escape(key)} +{str(value).lower()} ", printed, re.MULTILINE), key


def test_the_command_uses_no_recipe(unfinished: Path) -> None:
    """Which recipe a space has by default depends on the machine, so the command has all settings instead."""

    def change(manifest: dict[str, Any]) -> None:
        manifest["space"] = "darts"
        manifest["config"]["parameters"] = {}

    changed(unfinished, change)
    _, verb, *words = shlex.split(" ".join(repeat_command(read_reported_run(unfinished).record, SearchConfig)))
    assert words[:3] == ["darts", "--recipe", "none"]
    printed = CliRunner().invoke(app, [verb, *words, "--settings"]).output
    assert re.search("^parameters +- ", printed, re.MULTILINE), printed


def test_the_command_quotes_what_a_shell_would_read(unfinished: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["space"] = "a b;rm.nas"
        manifest["config"]["data"] = "$(x) 'y'"
        manifest["python_ops"] = True
        manifest["config"]["patterns"] = {"a.b": "row"}

    changed(unfinished, change)
    words = shlex.split(" ".join(repeat_command(read_reported_run(unfinished).record, SearchConfig)))
    assert words[:3] == ["bayesnas-graph", "search", "a b;rm.nas"]
    assert "data=$(x) 'y'" in words
    assert words[words.index("--pattern") + 1] == "a.b=row"
    assert words[-1] == "--allow-python"


def test_an_unfinished_search_has_its_text_without_marks(unfinished: Path) -> None:
    found = pages(unfinished)
    assert "the search has not finished" in found["space"].seen
    assert all(not given["data-mark"] for given in found["space"].of_class("mark"))
    assert found["space"].texts["space-0"] == (unfinished / "space" / "quickstart.nas").read_text()
    assert "matches" in found["making"].seen
    assert "no source yet" in found["source"].seen


def test_a_decision_without_a_network_is_reported(quickstart: Path, tmp_path: Path) -> None:
    run = searched(tmp_path / "run")
    nothing = {"keep": False, "why": "own switch off"}
    edit_json(run / "decision.json", lambda decision: [one.update(nothing) for one in decision["verdicts"]])
    found = pages(run)
    assert "leaves no network" in found["space"].seen
    assert "The source cannot be shown: nothing reaches the output" in found["source"].seen
    (run / "decision.json").write_text("{")
    found = pages(run)
    assert "the search has not finished" in found["space"].seen
    assert "it is damaged" in found["source"].seen


def test_python_is_not_run_and_the_page_says_so(tmp_path: Path) -> None:
    run = searched(tmp_path / "run")
    changed(run, lambda manifest: manifest.update(python_ops=True))
    found = pages(run)
    assert found["space"].texts["space-0"] == (run / "space" / "quickstart.nas").read_text()
    for section in found.values():
        assert "uses Python operations" in section.seen
    assert not list(found["source"].of_class("listing"))


def _training(run: Path, text: str) -> Path:
    space = run.parent / "fixed.nas"
    space.write_text(text)
    begun(run, load_network(space), str(space))
    config = TrainConfig(data="digits", epochs=3).to_plain()
    changed(run, lambda manifest: manifest.update(kind="train", config=config))
    return run


def test_a_training_has_its_source_from_its_folder_or_as_it_would_be(tmp_path: Path) -> None:
    run = _training(tmp_path / "run", FIXED)
    found = pages(run)
    assert "class N(nn.Module)" in found["source"].texts["source-0"]
    assert "no decision" not in found["space"].seen
    assert shlex.split(found["making"].texts["making-command"])[:2] == ["bayesnas-graph", "train"]
    assert "-s epochs=3" in found["making"].texts["making-command"]
    (run / "model.py").write_text("class Other: ...\n")
    assert pages(run)["source"].texts["source-0"] == "class Other: ...\n"


def test_a_compression_shows_what_is_left(tmp_path: Path) -> None:
    run = _training(tmp_path / "run", FIXED)
    changed(run, lambda manifest: manifest.update(kind="compress", config={"data": "digits", "loops": 2}))
    assert "no source yet" in pages(run)["source"].seen
    (run / "network.nas").write_text("// less\n")
    (run / "model.py").write_text("pass\n")
    (run / "stages").mkdir()
    (run / "stages" / "given.safetensors").touch()
    found = pages(run, key="b-")
    assert (found["b-source"].texts["b-source-0"], found["b-source"].texts["b-source-1"]) == ("// less\n", "pass\n")
    told = shlex.split(found["b-making"].texts["b-making-command"])
    assert told[told.index("--weights") + 1] == str(run / "stages" / "given.safetensors")


def test_nothing_of_a_run_is_markup(tmp_path: Path) -> None:
    run = _training(tmp_path / "run", FIXED)

    def change(manifest: dict[str, Any]) -> None:
        manifest.update(
            space=EVIL, called=EVIL, network=EVIL, begun=EVIL, fingerprint=EVIL, threads=EVIL, data_dir=EVIL
        )
        manifest["versions"] = {EVIL: EVIL, "machine": EVIL}
        manifest["config"] = {"data": EVIL, "seed": EVIL, EVIL: {EVIL: [EVIL]}, "patterns": EVIL, "parameters": EVIL}

    changed(run, change)
    long = f"{EVIL}{'x' * 10_000}\x00\x1b\u202e"
    (run / "space" / f"{EVIL.replace('/', '')}.nas").write_text(long)
    (run / "model.py").write_text(f"# {long}\n'''{EVIL}")
    for key, section in pages(run).items():
        assert {tag for tag, _ in section.elements}.isdisjoint({"script", "img", "style"}), key
        assert all(not name.startswith("on") for _, given in section.elements for name in given)
        assert "alert(1)" in section.seen
        assert not set(section.seen) & set("\x00\x1b\u202e")


def test_a_file_that_is_far_too_large_is_shown_in_part(tmp_path: Path) -> None:
    run = _training(tmp_path / "run", FIXED)
    (run / "model.py").write_text("x" * (MAX_BYTES + 10))
    assert pages(run)["source"].texts["source-0"] == "x" * MAX_BYTES + "\n... and more\n"
    (run / "model.py").write_text("\n" * (MAX_LINES + 10))
    assert pages(run)["source"].texts["source-0"] == "\n" * MAX_LINES + "... and more\n"


def test_links_are_not_followed(tmp_path: Path) -> None:
    run = _training(tmp_path / "run", FIXED)
    (tmp_path / "secret").write_text("hidden")
    (run / "model.py").symlink_to(tmp_path / "secret")
    assert "hidden" not in pages(run)["source"].seen
