"""Spaces given as a text: in every function of the API, and in runs, which must not need anything else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.runs.loop import Interrupted
from tests.search.spaces import SHORT, TINY
from tests.test_api import Impatient
from tests.train.compress.small import LENET

SETTINGS: dict[str, Any] = {**SHORT, "threads": 1}
TRAIN = {"data": SETTINGS["data"], "epochs": 1, "batch": 20, "cutout": 2, "threads": 1}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_text_is_loaded_like_a_file(folder: Path) -> None:
    (folder / "tiny.nas").write_text(TINY)
    from_file, from_text = api.load("tiny.nas", "net", width=6), api.load(text=TINY, network="net", width=6)
    assert fingerprint(from_text.graph()) == fingerprint(from_file.graph())
    assert api.check(api.Text(TINY)) == ()
    with pytest.raises(TypeError, match="a file or a text"):
        api.load()
    with pytest.raises(TypeError, match="a file or a text"):
        api.load("tiny.nas", text=TINY)


def test_messages_point_into_the_text() -> None:
    text = TINY.replace("conv()", "covn()")
    with pytest.raises(NasError) as caught:
        api.load(text=text, name="my space")
    shown = render(caught.value.diagnostics[0])
    assert "--> my space:10:30" in shown
    assert "x -> h : choose { twice, covn(), max_pool(3) }" in shown
    assert [*map(render, api.check(api.Text(text, "my space")))] == [*map(render, caught.value.diagnostics)]
    assert "no network `nett` in my space" in str(_error(api.Text(TINY, "my space"), network="nett"))


def _error(text: api.Text, **arguments: Any) -> NasError:
    with pytest.raises(NasError) as caught:
        api.load(text, **arguments)
    return caught.value


def test_texts_that_no_file_could_have() -> None:
    assert "character 4 is not valid Unicode" in str(_error(api.Text("let \ud800 = 3")))
    assert "larger than 4 MiB" in str(_error(api.Text(" " * 2**22 + " ")))
    assert [one.code for one in api.check(api.Text("\ud800"))] == ["NAS011"]
    assert "defines no network" in str(_error(api.Text("")))


def test_imports_are_looked_up_in_the_folder(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "block.nas").write_text("motif block { in x x -> out : linear(4) > relu }")
    (folder / "parts" / "net.nas").write_text("motif other { in x x -> out : bn }")  # not the text, which has its name
    text = 'import "block.nas" import "net.nas" network net : vector(4) -> vector(4) { in x x -> out : block > other }'
    assert api.load(text=text, name="net.nas", folder="parts").name == "net"
    assert "cannot find `block.nas`" in str(_error(api.Text(text)))


def test_a_run_of_a_text_needs_nothing_else(folder: Path) -> None:
    """It is resumed in another folder, after its imports are gone, with the same result."""
    (folder / "parts").mkdir()
    head, rest = TINY.split("cell block")
    (folder / "parts" / "twice.nas").write_text(head)
    text = api.Text(f'import "twice.nas"\ncell block{rest}', "tiny", Path("parts"))
    whole = api.search(text, **SETTINGS)
    assert whole.path == Path("runs/tiny-1")
    with pytest.raises(Interrupted):
        api.search(text, output="cut", watch=(Impatient(),), **SETTINGS)
    (folder / "elsewhere").mkdir()
    shutil.move("cut", "elsewhere/cut")
    shutil.rmtree("parts")
    resumed = api.search(resume="elsewhere/cut", allow_python=True)
    assert resumed.outcome.decision == whole.outcome.decision
    about = json.loads(Path("elsewhere/cut/run.json").read_text())
    assert (about["space"], about["called"], about["file"]) == ("tiny", "tiny", "tiny.nas")
    assert sorted(path.name for path in Path("elsewhere/cut/space").iterdir()) == ["tiny.nas", "twice.nas"]
    assert api.derive("elsewhere/cut").cost == api.derive(whole).cost


def test_every_function_takes_a_text() -> None:
    space, fixed = api.Text(TINY), api.Text(LENET, "lenet")
    assert api.compile(space).module(torch.zeros(2, 1, 8, 8)).shape == (2, 10)
    assert api.export(fixed).graph.name == "lenet"
    assert api.evaluate(fixed, runs=1).parameters > 0
    assert api.train(fixed, **TRAIN).path == Path("runs/lenet-train-1")
    compressed = api.compress(fixed, **TRAIN | {"loops": 1, "fine_epochs": 0, "loop_epochs": 1, "cutout": 0})
    assert compressed.path == Path("runs/lenet-compress-1")
    found = api.search(space, output="run", **SETTINGS)
    assert api.derive(found, space=api.Text(TINY.replace("width = 4", "width = 8"))).cost.parameters > 0
    swept = api.sweep(space, axes={"lambda": [0.5]}, allow_python=True, **SETTINGS | {"iterations": 1})
    assert [run.state for run in swept.runs] == ["done"]
    with pytest.raises(NasError, match="still has 4 choices"):
        api.export(space)


def test_what_a_text_does_not_have() -> None:
    with pytest.raises(NasError, match="is a text, which has no recipe `quick`"):
        api.search(api.Text(TINY), recipe="quick", **SETTINGS)
    with pytest.raises(NasError, match="is a text, not a run folder"):
        api.derive(api.Text(TINY))


@pytest.mark.parametrize("name", ["../up", "a/b", "In [3]", "", ".hidden", "-x", "x" * 300, "é"])
def test_names_of_texts_are_no_paths(name: str) -> None:
    assert api.Text(LENET, name).stem == "text"
    assert api.load(text=LENET, name=name).name == "lenet"


def test_a_run_of_a_text_with_a_strange_name() -> None:
    run = api.train(api.Text(LENET, "../up"), **TRAIN)
    assert run.path == Path("runs/text-train-1")
    assert api.export(run.path).graph.name == "lenet"
