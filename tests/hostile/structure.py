"""The structure of generated files: what must not depend on the texts in them."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker

ATTACKS = (
    '2.0"""\nimport os\nos.abort()\n"""',
    "'''\\\n",
    '"); import os #',
    "\n# coding: rot13\n",
    "\r\nimport os",
    "x\x00y",
    "\u2028import os",
    "*/ network evil { }",
    "\nnetwork evil : image(1, 8, 8) -> classes(2) {}",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "--><b>",
    "]]><b>",
    '"]; evil [label="',
    "]:::evil\nclick a href",
    "$(touch evil) `touch evil`",
    "{{ 7 * 7 }} {% raw %}",
)
HARMLESS = "harmless"


def structure(path: Path) -> object:
    """What is left of a file without its texts. Raises if the file is not well formed."""
    text = path.read_text()
    return {
        ".py": of_source,
        ".nas": of_space,
        ".html": of_page,
        ".svg": of_picture,
        ".dot": of_quoted,
        ".mmd": of_quoted,
    }[path.suffix](text)


def of_source(text: str) -> object:
    """The kinds of all nodes of the syntax tree but its docstrings, and what is imported."""
    tree = ast.parse(text)
    kinds = [type(node).__name__ for node in ast.walk(tree)]
    imports = [ast.dump(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return kinds, imports


def of_space(text: str) -> object:
    """The kinds and number of definitions."""
    report = Report()
    space = Checker(report).text(Source("written.nas", text))
    assert not report.diagnostics
    return [type(item).__name__ for item in space.module.file.items], len(space.networks)


class Tags(HTMLParser):
    """All tags of a page, each with the names of its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))


def of_page(text: str) -> object:
    """The kinds of tags, and how many of them run code. Texts may be broken into more or fewer lines."""
    tags = Tags()
    tags.feed(text)
    tags.close()
    scripts = sum(tag == "script" for tag, _ in tags.found)
    return set(tags.found), scripts


def of_picture(text: str) -> object:
    """The kinds of elements with the names of their attributes."""
    root = ElementTree.fromstring(text)
    return {(element.tag, tuple(sorted(element.attrib))) for element in root.iter()}


def of_quoted(text: str) -> object:
    """The text between quoted parts, without names and numbers."""
    return re.sub(r"[\w.]+", "", re.sub(r'"(?:\\.|[^"\\])*"', '""', text))
