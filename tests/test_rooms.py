"""The tree in docs/architecture.md lists the rooms that exist."""

from __future__ import annotations

import re

from tests.conftest import ROOT

PACKAGE = ROOT / "bayesnas_graph"
PAGE = ROOT / "docs" / "architecture.md"


def tree() -> dict[str, str]:
    """The lines of the first block on the page: name and description."""
    block = re.search(r"^```text\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    return dict(line.split(maxsplit=1) for line in block[1].splitlines())


def test_every_room_is_listed_and_exists() -> None:
    listed = sorted(name for name in tree() if name.endswith("/"))
    assert listed == sorted(f"{file.parent.name}/" for file in PACKAGE.glob("*/__init__.py"))


def test_names_inside_the_lines_exist() -> None:
    """Other files and the folders inside a room."""
    for name, description in tree().items():
        assert (PACKAGE / name).exists()
        for inner in re.findall(r"(\w+/)(?:[:,; ]|$)", description):
            assert (PACKAGE / name / inner).is_dir(), f"{name}{inner}"
