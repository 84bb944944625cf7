"""docs/search.md lists every setting with its default and description."""

from __future__ import annotations

import re

from bayesnas_graph.runs.config.groups import Group
from bayesnas_graph.runs.config.search import SearchConfig
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "search.md"


def table(kind: type[Group] = SearchConfig) -> str:
    rows = ["| key | default | |", "|---|---|---|"]
    for name, field in kind.model_fields.items():
        default = (
            ""
            if field.default in (None, {})
            else f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"
        )
        assert field.description, name
        rows.append(f"| `{field.alias or name}` | {default} | {field.description} |")
    return "\n".join(rows) + "\n"


def test_every_setting_is_on_the_page(update_golden: bool) -> None:
    text = PAGE.read_text()
    wanted = re.sub(
        r"(<!-- settings -->\n).*?(<!-- end of settings -->)",
        lambda found: f"{found[1]}\n{table()}\n{found[2]}",
        text,
        flags=re.DOTALL,
    )
    if update_golden:
        PAGE.write_text(wanted)
    assert PAGE.read_text() == wanted
