"""Which gates are one switch."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph import passes
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden, options


@pytest.mark.parametrize("case", golden("group_switches"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.group_switches(graph, options(settings)), update_golden)


def test_who_shares_switches() -> None:
    """By default uses of a cell share switches, in proxy mode also uses of a motif, in proxyless mode none."""
    text = "cell c { in x x -> out : choose { relu, tanh } } motif m { in x x -> out : choose { relu, bn } }"
    found = passes.insert_zero_identity(graph(text + body("x -> out : c > c > m > m > choose { gelu, swish }")))
    groups = {
        mode: {gate.group for gate in passes.group_switches(found, passes.Options(mode=mode)).gates}
        for mode in ("written", "proxy", "proxyless")
    }
    assert {mode: len(names) for mode, names in groups.items()} == {"written": 12, "proxy": 9, "proxyless": 15}
    assert {"c:choice.relu", "m.choice.relu", "m_2.choice.relu"} <= groups["written"]
    assert {"c:choice.relu", "m:choice.relu", "m:choice.zero", "choice.gelu"} <= groups["proxy"]
    assert {"c_2.choice.relu", "m_2.choice.relu"} <= groups["proxyless"]
