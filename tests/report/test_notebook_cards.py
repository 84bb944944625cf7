"""Notebook representations of results."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from base64 import b64decode
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter

from bayesnas_graph import api
from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import Input, Relu
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.report import notebook
from bayesnas_graph.report.notebook import Card
from bayesnas_graph.report.results import CompressResult, SearchResult, TrainResult
from tests.conftest import SPACES
from tests.helpers import network
from tests.search.spaces import SHORT, TINY
from tests.train.compress.small import LENET

ELEMENTS = {"div", "p", "b", "table", "tr", "th", "td", "img", "code", "br"}  # that every reader of notebooks shows


class Page(HTMLParser):
    """The contents of an HTML fragment."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.elements[-1][0] in ("td", "th") and data.strip():
            self.rows[-1][-1] += data

    @property
    def numbers(self) -> dict[str, list[str]]:
        return {label: values for label, *values in self.rows}

    @property
    def pictures(self) -> list[str]:
        sources = [attributes["src"] or "" for tag, attributes in self.elements if tag == "img"]
        return [b64decode(source.removeprefix("data:image/svg+xml;base64,")).decode() for source in sources]


def kinds(thing: object) -> set[str]:
    """The MIME types of a notebook representation."""
    return set(DisplayFormatter().format(thing)[0])  # type: ignore[no-untyped-call]


def texts(svg: str | None) -> list[str]:
    """The texts of a picture."""
    assert svg is not None
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


# ------------------------------------------------------------------------------------------- pictures


# 13 operations on each of 60 edges; four sizes in each of 12 layers.
LARGE = {"nasnet": 500_000, "auto_deeplab": 300_000}


@pytest.mark.parametrize("path", [path for path in SPACES if path.stem != "std"], ids=lambda path: path.stem)
def test_shipped_spaces_stay_readable(path: Path) -> None:
    found = api.load(path)
    for thing in (found, found.graph()):
        svg = thing._repr_svg_()
        assert texts(svg)
        assert svg is not None
        assert len(svg) < LARGE.get(path.stem, 250_000)
        assert len(repr(thing)) < 200


def test_what_a_notebook_is_given() -> None:
    found = network(TINY)
    assert kinds(found) == kinds(found.graph()) == kinds(api.compile(found)) == {"text/plain", "image/svg+xml"}
    assert repr(found) == "<network net(width = 4): 38 operations, 4 choices>"
    assert repr(found.graph()) == "<graph net: 39 nodes, 46 edges, 10 gates>"
    assert repr(api.compile(found)) == "<supernet net: 43 nodes, 14 gates>"


def test_a_thousand_nodes() -> None:
    """It fits the page width, and its height is limited."""
    nodes = [Node("x", Input(), (4,)), *(Node(f"relu_{i}", Relu(), (4,)) for i in range(1000))]
    edges = [Edge(before.name, node.name, 0) for before, node in pairwise(nodes)]
    svg = Graph("long", nodes, edges, [nodes[-1].name])._repr_svg_()
    assert svg is not None
    assert len(svg) < 250_000


def test_drawing_errors_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    found = network(TINY)

    def fail(_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(notebook, "diagram_of", fail)
        assert kinds(found) == {"text/plain"}
    monkeypatch.setattr(notebook, "MAX_SVG", 1000)
    assert kinds(found) == kinds(found.graph()) == {"text/plain"}


def test_showing_takes_no_more_than_the_package() -> None:
    """The drawing code is imported on demand; torch is not."""
    program = """
import sys
from bayesnas_graph import api
network = api.load("quickstart")
assert network._repr_svg_().startswith("<svg"), "a network"
assert network.graph()._repr_svg_().startswith("<svg"), "a graph"
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# ---------------------------------------------------------------------------------------------- cards


@given(st.text(), st.text(min_size=1), st.text(min_size=1))
def test_cards_are_text(title: str, value: str, folder: str) -> None:
    """Card contents are escaped."""
    html = Card(title, (value,), ((title, value),), (value,), None, Path(folder), ("report RUN",)).html()
    page = Page(html)
    plain = Page(Card("a", ("a",), (("a", "a"),), ("a",), None, Path("a"), ("report RUN",)).html())
    assert page.elements == plain.elements
    for text in (title, value, str(Path(folder))):
        assert text in page.text


def test_cards_are_shown_everywhere() -> None:
    svg = network(TINY)._repr_svg_()
    assert svg is not None
    card = Card("A <script>", ("it's",), (("a", "1", "2"),), ("x", "y"), svg, Path("my runs/1"), ("eval RUN -o x",))
    page = Page(card.html())
    assert {tag for tag, _ in page.elements} == ELEMENTS
    styles = {style for _, attributes in page.elements if (style := attributes.get("style")) is not None}
    assert styles == {"text-align: left", "text-align: right", "max-width: 100%"}
    assert page.rows == [["", "x", "y"], ["a", "1", "2"]]
    assert page.pictures == [svg]
    assert "bayesnas-graph eval 'my runs/1' -o x" in page.text


# -------------------------------------------------------------------------------------------- results

SETTINGS: dict[str, Any] = {"data": SHORT["data"], "batch": 20, "threads": 1}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shown")
    (made / "tiny.nas").write_text(TINY)
    (made / "lenet.nas").write_text(LENET)
    return made


@pytest.fixture(scope="session")
def found(folder: Path) -> SearchResult:
    return api.search(folder / "tiny.nas", output=folder / "a search", **SHORT)


@pytest.fixture(scope="session")
def trained(folder: Path) -> TrainResult:
    return api.train(folder / "lenet.nas", output=folder / "trained", epochs=1, cutout=2, **SETTINGS)


def test_a_search(found: SearchResult) -> None:
    page, outcome, whole = Page(found._repr_html_()), found.outcome, cost(network(TINY).graph())
    kept = [verdict for verdict in outcome.decision.verdicts if verdict.keep]
    assert page.numbers == {
        "": ["derived", "all candidates"],
        "accuracy on the test set": [f"{outcome.accuracy:.4f}", ""],
        "parameters": [f"{outcome.cost.parameters:,}", f"{whole.parameters:,}"],
        "multiply-adds": [f"{outcome.cost.flops:,}", f"{whole.flops:,}"],
        "switches": [str(len(kept)), str(len(outcome.decision.verdicts))],
    }
    assert f"Network net ({found.path.parent / 'tiny.nas'}) on {SHORT['data']}, seed 1." in page.text
    assert f"The search ended: {outcome.why}." in page.text
    assert f"bayesnas-graph report '{found.path}'" in page.text
    assert kinds(found) == {"text/plain", "text/html"}
    assert "<search in" in repr(found)


def test_the_picture_of_a_search_is_what_is_left(found: SearchResult) -> None:
    (svg,) = Page(found._repr_html_()).pictures
    every = {"twice", "conv", "max_pool", "identity"}
    kept = {v.name.rpartition(".")[2] for v in found.outcome.decision.verdicts if v.keep} & every
    assert kept < every, "something was closed, or this test tells nothing"
    drawn = Counter(re.findall(r"<title>(\w+): ", svg))
    drawn["conv"] -= 1  # the first operation of the network
    assert {name for name in every if drawn[name] > 0} == kept


def test_a_search_whose_folder_is_gone(found: SearchResult, tmp_path: Path) -> None:
    copy = SearchResult(tmp_path / "copy", found.outcome, found.network)
    shutil.copytree(found.path, copy.path)
    assert "seed 1" in copy._repr_html_()
    shutil.rmtree(copy.path)
    page = Page(copy._repr_html_())
    assert "Network net." in page.text
    assert page.pictures


def test_an_architecture(found: SearchResult) -> None:
    architecture = api.derive(found, keep_per_edge=1)
    page, size, whole = Page(architecture._repr_html_()), architecture.cost, cost(network(TINY).graph())
    assert page.numbers["parameters"] == [f"{size.parameters:,}", f"{whole.parameters:,}"]
    assert page.numbers["multiply-adds"] == [f"{size.flops:,}", f"{whole.flops:,}"]
    assert architecture.rule in page.text
    assert "2 of" in " ".join(texts(page.pictures[0])), "one candidate of each choice"
    assert kinds(architecture) == {"text/plain", "text/html"}
    assert "<architecture of" in repr(architecture)


def test_a_training(trained: TrainResult) -> None:
    page, size = Page(trained._repr_html_()), cost(network(LENET).graph())
    assert page.numbers == {
        "accuracy on the test set": [f"{trained.outcome.score.accuracy:.4f}"],
        "loss on the test set": [f"{trained.outcome.score.loss:.4g}"],
        "parameters": [f"{size.parameters:,}"],
        "multiply-adds": [f"{size.flops:,}"],
    }
    assert "flatten" in texts(page.pictures[0])
    assert f"bayesnas-graph eval {trained.path}" in page.text
    assert kinds(trained) == {"text/plain", "text/html"}
    assert repr(trained) == f"<training in {trained.path}: accuracy {trained.outcome.score.accuracy:.4f}>"


def test_a_compression(folder: Path, trained: TrainResult) -> None:
    shorter: dict[str, Any] = {"epochs": 0, "loops": 1, "fine_epochs": 0, "tolerance": 0.01, "batch": 20, "threads": 1}
    smaller: CompressResult = api.compress(trained, output=folder / "smaller", rival=True, **shorter)
    page, outcome = Page(smaller._repr_html_()), smaller.outcome
    assert outcome.baseline is not None
    sizes = [measured.size for measured in (outcome.whole, outcome.left, outcome.baseline)]
    assert page.numbers[""] == ["whole", "left", "by magnitude"]
    assert page.numbers["parameters"] == [f"{size.parameters:,}" for size in sizes]
    assert page.numbers["operations"] == [f"{size.operations:,}" for size in sizes]
    assert page.numbers["error on the test set"][1] == f"{100 * (1 - outcome.left.score.accuracy):.2f} %"
    assert page.numbers["widths"][1] == outcome.left.widths != outcome.whole.widths
    assert "flatten" in texts(page.pictures[0])
    assert kinds(smaller) == {"text/plain", "text/html"}
    assert f"{outcome.left.size.parameters:,} parameters>" in repr(smaller)
