"""The verbs as functions: beyond what the sessions in docs/api.md show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.search.events import Row
from bayesnas_graph.search.loop import Interrupted
from tests.search.spaces import SHORT, TINY, Notes

SETTINGS: dict[str, Any] = {**SHORT, "threads": 1}


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.nas").write_text(TINY)
    return tmp_path / "tiny.nas"


class Impatient(Notes):
    """Gives up after some steps, as a program may that watches."""

    def logged(self, row: Row) -> None:
        super().logged(row)
        if row.step >= 12:
            raise Interrupted(row.step)


def test_a_search_goes_on_to_the_same_result(space: Path) -> None:
    whole = api.search(space, output="whole", **SETTINGS)
    with pytest.raises(Interrupted):
        api.search(space, output="cut", watch=(Impatient(),), **SETTINGS)
    gone_on = api.search(resume="cut")
    assert gone_on.path == Path("cut")
    assert gone_on.outcome.decision == whole.outcome.decision
    assert json.loads(Path("cut/result.json").read_text()) == json.loads(Path("whole/result.json").read_text())


def test_a_run_goes_on_as_it_is(space: Path) -> None:
    for wrong in (
        {},
        {"file": space, "resume": "run"},
        {"resume": "run", "batch": 3},
        {"resume": "run", "output": "x"},
    ):
        with pytest.raises(TypeError, match="a file and settings, or a run"):
            api.search(**wrong)
    with pytest.raises(NasError, match="is no run"):
        api.search(resume="nowhere")


def test_folders_are_never_overwritten(space: Path) -> None:
    api.search(space, output="run", **SETTINGS)
    with pytest.raises(NasError, match="is already there"):
        api.search(space, output="run", **SETTINGS)
    assert api.search(space, **SETTINGS).path == Path("runs/tiny-1")


def test_what_was_found_is_trained(space: Path) -> None:
    found = api.search(space, output="run", **SETTINGS)
    given = {"data": SETTINGS["data"], "epochs": 1, "batch": 20, "cutout": 2, "threads": 1}
    trained = api.train(api.derive(found, width=6), output="trained", **given)
    assert 0 <= trained.outcome.score.accuracy <= 1
    assert (trained.path / "model.py").is_file()
    assert api.load(trained.path / "space" / "network.nas").name == "net"


def test_checks(space: Path) -> None:
    assert api.check(space) == ()
    assert api.check("quickstart") == ()
    space.write_text("network net : image(1, 8, 8) -> classes(10) { in x x -> out : convv(3) }")
    assert [diagnostic.code for diagnostic in api.check(space)] == ["NAS101"]
    with pytest.raises(NasError, match="has no weights"):
        api.export("lenet5", weights="weights.safetensors")
