"""docs/compression.md lists every setting with its default and description, and every pattern."""

from __future__ import annotations

import re

from bayesnas_graph.runs.config.compress import CompressConfig
from bayesnas_graph.runs.settings import merged, read_settings
from bayesnas_graph.train.compress.patterns import PATTERNS
from tests.conftest import ROOT
from tests.search.test_page import table

PAGE = ROOT / "docs" / "compression.md"


def test_every_setting_is_on_the_page(update_golden: bool) -> None:
    text = PAGE.read_text()
    wanted = re.sub(
        r"(<!-- settings -->\n).*?(<!-- end of settings -->)",
        lambda found: f"{found[1]}\n{table(CompressConfig)}\n{found[2]}",
        text,
        flags=re.DOTALL,
    )
    if update_golden:
        PAGE.write_text(wanted)
    assert PAGE.read_text() == wanted
    assert text.count("<!-- settings -->") == 1


def test_every_pattern_is_on_the_page() -> None:
    rows = re.findall(r"^\| `([a-z+-]+)` \| .*\|$", PAGE.read_text().partition("### Groups")[2], flags=re.MULTILINE)
    assert set(PATTERNS) == set(rows[: len(PATTERNS)])


def test_recipes_are_settings() -> None:
    recipes = sorted((ROOT / "spaces").glob("*.compress.toml"))
    assert [path.name.partition(".")[0] for path in recipes] == ["lenet300", "lenet5", "resnet18_cifar"]
    assert all(merged([read_settings(path)], CompressConfig).data for path in recipes)
