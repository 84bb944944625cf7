"""The data passed to the graph script, against its source tables."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.report.pictures import diagram_of
from bayesnas_graph.report.reported_run import ReportedRun, read_reported_run
from bayesnas_graph.report.switchboard import switchboard
from tests.report.runs import begun, searched


def board_of(run: ReportedRun) -> dict[str, Any]:
    assert run.space is not None
    assert run.graph is not None
    diagram = diagram_of(run.space.network)
    return switchboard(run.record, run.graph, diagram, run.history, run.final)


def test_a_moment_for_every_update_and_both_ends(quickstart: Path) -> None:
    run = read_reported_run(quickstart)
    moments = board_of(run)["moments"]
    assert [moment["label"] for moment in moments] == [
        "before the search",
        *(f"update {number} of 5" for number in range(1, 6)),
        "derived",
    ]
    assert run.graph is not None
    assert moments[0]["parameters"] == cost(run.graph).parameters
    assert moments[-1]["parameters"] == json.loads((quickstart / "result.json").read_text())["parameters"]


def test_moments_have_their_steps(quickstart: Path) -> None:
    moments = board_of(read_reported_run(quickstart))["moments"]
    assert [moment["step"] for moment in moments] == [0, 20, 40, 60, 80, 100, 100]
    assert [moment.get("update") for moment in moments] == [None, 1, 2, 3, 4, 5, None]


def test_every_switch_has_a_sentence(quickstart: Path) -> None:
    for switch in board_of(read_reported_run(quickstart))["switches"]:
        start = "Kept: " if switch["kept"] else f"Closed at update {switch['closed']}: worth 0 (at most "
        assert switch["because"].startswith(start)


def test_the_worth_is_there_if_it_was_estimated(quickstart: Path, tmp_path: Path) -> None:
    board = board_of(read_reported_run(quickstart))
    assert board["evidence"] == "worth"
    assert list(board["symbols"]) == ["worth", "gamma", "s", "omega", "entropy", "w", "h"]
    assert all(len(switch["worth"]) == len(switch["gamma"]) for switch in board["switches"])
    assert {tuple(switch["bounds"]) for switch in board["switches"]} == {(0.5988,)}  # lambda is 0.3
    other = board_of(read_reported_run(searched(tmp_path / "run", strategy="darts")))
    assert other["evidence"] == "strength"
    assert list(other["symbols"]) == ["strength", "w"]
    assert "worth" not in other["switches"][0]


def test_series_are_those_of_the_table(quickstart: Path) -> None:
    board = board_of(read_reported_run(quickstart))
    rows = defaultdict(list)
    with (quickstart / "switches.csv").open() as file:
        for row in csv.DictReader(file):
            rows[row["switch"]].append(row)
    assert {switch["name"] for switch in board["switches"]} == set(rows)
    for switch in board["switches"]:
        own = rows[switch["name"]]
        assert switch["gamma"] == pytest.approx([float(row["gamma"]) for row in own], rel=1e-3)
        assert switch["w"] == [pytest.approx([float(w) for w in row["w"].split()], rel=1e-3) for row in own]
        assert switch["closed"] == next((int(row["iteration"]) for row in own if row["keep"] == "0"), None)
        assert switch["kept"] is (switch["closed"] is None)
        assert switch["place"] == "<shipped>/quickstart.nas:27"


def test_every_gate_of_the_graph_has_a_place_in_a_panel(own_switches: Path) -> None:
    run = read_reported_run(own_switches)
    assert run.graph is not None
    groups = {gate.name: gate.group for gate in run.graph.gates}
    board = board_of(run)
    shown = {}
    for panel in board["panels"]:
        for row in panel["rows"]:
            for gate, number in zip(panel["gates"], row["switches"], strict=True):
                for use in row["uses"]:
                    shown[f"{use}.{gate}".removeprefix(".")] = board["switches"][number]["name"]
    assert shown == groups


def test_uses_with_switches_of_their_own_have_rows_of_their_own(quickstart: Path, own_switches: Path) -> None:
    (cell,) = [panel for panel in board_of(read_reported_run(quickstart))["panels"] if panel["gates"]]
    assert [row["uses"] for row in cell["rows"]] == [["large", "small.block", "last"]]
    (motif,) = [panel for panel in board_of(read_reported_run(own_switches))["panels"] if panel["gates"]]
    assert [row["uses"] for row in motif["rows"]] == [["a"], ["b"]]


def test_an_unfinished_search_has_no_result(quickstart: Path, tmp_path: Path) -> None:
    folder = searched(tmp_path / "run")
    (folder / "decision.json").unlink()
    (folder / "result.json").unlink()
    board = board_of(read_reported_run(folder))
    assert board["moments"][-1]["label"] == "update 5 of 5"
    assert {switch["kept"] for switch in board["switches"]} == {None}


def test_before_the_first_update(quickstart: Path, tmp_path: Path) -> None:
    folder = searched(tmp_path / "run")
    for name in ("decision.json", "result.json", "switches.csv", "updates.csv", "metrics.csv"):
        (folder / name).unlink()
    board = board_of(read_reported_run(folder))
    assert [moment["label"] for moment in board["moments"]] == ["before the search"]
    assert all(switch["gamma"] == [] for switch in board["switches"])


def test_thousands_of_switches_are_few_panels(tmp_path: Path) -> None:
    begun(tmp_path, load_network(Path("tree_cell")), "tree_cell")
    board = board_of(read_reported_run(tmp_path))
    assert len(board["switches"]) == 5832
    assert len(board["panels"]) == 5
    assert sorted(len(panel["rows"]) for panel in board["panels"]) == [1, 1, 1, 54, 162]
