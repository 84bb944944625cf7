"""The verbs that look things up, as functions: they return what the commands print, and print nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import CODES, NasError
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.language.json import to_json
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.search.spaces import TINY


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.nas").write_text(TINY)
    return tmp_path


def test_stats_of_a_file_a_text_and_a_network(run: Run) -> None:
    found = api.stats("tiny.nas")
    assert found == api.stats(api.Text(TINY)) == api.stats(api.load("tiny.nas"))
    printed = json.loads(run("stats", "tiny.nas", "--json").out)
    assert found.architectures == int(printed["architectures"])
    assert (found.parameters, found.switches, found.edges) == (
        printed["weights"],
        printed["switches"],
        printed["edges"],
    )
    assert found.architecture_parameters.largest.cost == printed["architecture"]["weights"]["largest"]["cost"]
    assert found.memory.training(64) == printed["training_bytes"]["64"]
    assert api.stats(api.load("tiny.nas", width=12)).parameters > found.parameters
    with pytest.raises(NasError, match="file not found"):
        api.stats("nowhere.nas")


def test_diff_of_networks_and_graphs(here: Path, run: Run) -> None:
    wide = api.load("tiny.nas", width=12)
    found = api.diff("tiny.nas", wide)
    assert not found.same
    assert len(found.difference.changed) > 0
    assert found.lines
    (here / "wide.json").write_text(to_json(wide.graph()))
    assert api.diff(wide, "wide.json").same
    assert api.diff(wide, "wide.json").lines == ()
    printed = run("diff", "tiny.nas", "wide.json", "--json").out
    assert json.loads(json_text(api.diff("tiny.nas", "wide.json").as_json())) == json.loads(printed)
    with pytest.raises(NasError, match="no network `other`"):
        api.diff("tiny.nas", "tiny.nas", "other")


def test_formatting_changes_no_file(here: Path) -> None:
    untidy = TINY.replace("    in ", "  in    ")
    assert untidy != TINY
    (here / "untidy.nas").write_text(untidy)
    assert api.fmt("untidy.nas") == api.fmt(api.Text(untidy)) == api.fmt("tiny.nas")
    assert (here / "untidy.nas").read_text() == untidy
    assert api.fmt("quickstart") == next(one for one in api.spaces() if one.name == "quickstart").path.read_text()
    with pytest.raises(NasError, match="NAS002"):
        api.fmt(api.Text("network {"))
    with pytest.raises(NasError, match="file not found"):
        api.fmt("nowhere.nas")


def test_shipped_spaces_and_what_is_in_a_file(here: Path) -> None:
    listed = api.spaces()
    assert [space.path for space in listed] == list(shipped_spaces())
    assert all(space.doc for space in listed)
    (here / "tiny.toml").write_text("# a short search\nsteps = 3\n")
    found = api.describe("tiny.nas")
    assert [network.name for network in found.networks] == ["net"]
    assert ("network", "net(width = 4)") in [(one.kind, one.signature.partition(" :")[0]) for one in found.definitions]
    assert [(one.path.name, one.doc) for one in found.settings] == [("tiny.toml", "a short search")]
    assert api.describe("darts").path == api.describe(listed[0].path.with_name("darts.nas")).path
    with pytest.raises(NasError, match="no shipped space named `dartz`"):
        api.describe("dartz")


def test_operations_and_error_pages() -> None:
    assert {entry.kind for entry in api.ops()} == {"primitive", "library", "function"}
    (entry,) = api.ops("sep_conv")
    assert entry.kind == "library"
    assert entry.signature.startswith("sep_conv(")
    with pytest.raises(NasError, match="unknown operation `sep_convv`"):
        api.ops("sep_convv")
    assert api.explain("201") == api.explain("nas201") == api.explain("NAS201")
    assert all(api.explain(code).startswith(f"# {code}") for code in CODES)
    with pytest.raises(NasError, match="unknown error code `NAS999`"):
        api.explain("NAS999")
