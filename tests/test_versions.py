"""The versions in pyproject.toml, constraints.txt and .ci/lowest.txt agree, and so do the extras in the code."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from bayesnas_graph.diagnostics.packages import EXTRAS
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]
TOOLS = ("dev", "docs", "test")
STOOD_IN = ("mlflow", "wandb")  # large packages: tests have stand-ins for them


def bounds(requirements: Iterable[str]) -> dict[str, str]:
    """The lower bounds by package, without those of the project's own extras."""
    own = f"{PROJECT['name']}["
    pairs = (requirement.split(">=") for requirement in requirements if not requirement.startswith(own))
    return dict(pairs)


def pins(file: Path) -> dict[str, str]:
    lines = (line for line in file.read_text().splitlines() if not line.startswith("#"))
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in (line.split("==") for line in lines)}


def test_the_lowest_versions_are_the_lower_bounds() -> None:
    extras = (one for name, some in OPTIONAL.items() if name not in (*TOOLS, *STOOD_IN) for one in some)
    assert pins(ROOT / ".ci" / "lowest.txt") == bounds((*PROJECT["dependencies"], *extras))


def test_the_tools_are_at_least_those_that_are_used() -> None:
    used = pins(ROOT / "constraints.txt")
    wanted = bounds(one for name in TOOLS for one in OPTIONAL[name])
    assert wanted == {name: used[name] for name in wanted}


def test_every_package_has_a_version_that_it_is_tested_with() -> None:
    extras = (one for name, some in OPTIONAL.items() if name not in STOOD_IN for one in some)
    everything = bounds((*PROJECT["dependencies"], *extras))
    assert everything.keys() <= pins(ROOT / "constraints.txt").keys()


def test_tests_have_all_packages() -> None:
    everything = ",".join(sorted(OPTIONAL.keys() - {*TOOLS, *STOOD_IN}))
    assert f"{PROJECT['name']}[{everything}]" in OPTIONAL["test"]
    assert f"{PROJECT['name']}[docs,test]" in OPTIONAL["dev"]


def test_messages_name_the_packages_of_the_extras() -> None:
    declared = {name: sorted(bounds(some)) for name, some in OPTIONAL.items() if name not in TOOLS}
    assert {name: sorted(packages.values()) for name, packages in EXTRAS.items()} == declared


def test_no_text_names_a_release() -> None:
    """There is none to install yet."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "bayesnas_graph").rglob("*.py")]
    named = re.compile(r"pip install [\"'`]*bayesnas-graph(?![\w,\[\]]* @ )")
    assert not [page for page in pages if named.search(page.read_text())]
