"""What reaches no output is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.ir import Graph
from tests.passes.cases import Settings, check_golden, golden


def only(found: Graph, *outputs: str) -> Graph:
    """A graph of which only some values are outputs."""
    return found.replace(list(found), found.edges, outputs)


@pytest.mark.parametrize("case", golden("drop_unused"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    def apply(found: Graph, settings: Settings) -> Graph:
        return passes.drop_unused(only(found, settings["output"]))

    check_golden(case, apply, update_golden, same=False)
