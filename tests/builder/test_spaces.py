"""Shipped spaces that are written in Python give the same graphs as their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.builder import Space
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.json import fingerprint
from tests.builder.spaces import digits, nasbench201
from tests.helpers import check, formatted
from tests.search.spaces import SHORT

SPACES = {"quickstart": digits, "nasbench201": nasbench201}


@pytest.mark.parametrize("name", SPACES)
def test_the_graphs_are_equal(name: str) -> None:
    built, diagnostics = check(str(SPACES[name]))
    assert not diagnostics
    shipped = [network.name.name for network in load(name)]
    assert [network.name for network in built.networks] == shipped
    for network in built.networks:
        expected = api.load(name, network.name)
        assert network.graph() == expected.graph()
        assert fingerprint(network.graph()) == fingerprint(expected.graph())
        assert [(one.quantity, one.comparison, one.bound) for one in network.budgets] == [
            (one.quantity, one.comparison, one.bound) for one in expected.budgets
        ]


def load(name: str) -> Any:
    from bayesnas_graph.diagnostics import Report
    from bayesnas_graph.diagnostics.resources import shipped_space

    path = shipped_space(name)
    assert path is not None
    module = Checker(Report()).text_module(Source(name, path.read_text()))
    return module.networks


@pytest.mark.parametrize("name", SPACES)
def test_the_text_is_formatted(name: str) -> None:
    text = str(SPACES[name])
    assert formatted(text) == text


@pytest.mark.parametrize(
    ("name", "network", "parameters"),
    [("quickstart", None, {"width": 6}), ("nasbench201", "search", {"cells": 2, "width": 4, "channels": 1, "size": 8})],
)
def test_parameters_stay_parameters(name: str, network: str | None, parameters: dict[str, int]) -> None:
    options: dict[str, Any] = dict(parameters)
    built, shipped = (api.load(one, network, **options) for one in (SPACES[name], name))
    assert built.graph() == shipped.graph()


def test_the_text(update_golden: bool) -> None:
    for name, space in SPACES.items():
        golden = Path(__file__).parent / "golden" / f"{name}.nas"
        if update_golden:
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(str(space))
        assert str(space) == golden.read_text()


def test_a_space_is_searched_like_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {**SHORT, "threads": 1, "iterations": 1}
    found, again = (api.search(space, recipe="none", **settings) for space in (digits, "quickstart"))
    assert found.path == Path("runs/digits-1")
    verdicts = [[(one.name, one.keep, one.gamma) for one in run.outcome.decision.verdicts] for run in (found, again)]
    assert verdicts[0] == verdicts[1]
    assert (found.path / "space" / "digits.nas").read_text() == str(digits)
    assert api.derive(found).cost == api.derive(again).cost


def test_several_networks_in_one_file() -> None:
    assert repr(nasbench201) == "<space search, all_conv3x3, all_skip>"
    assert str(Space()) == ""
