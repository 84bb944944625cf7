"""The Python API, beyond the examples in docs/api.md."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.search.events import StepRow
from bayesnas_graph.train.compress.events import CompressWatcher, LoopRow, Stage
from tests.search.spaces import SHORT, TINY, Notes
from tests.train.compress.small import LENET

SETTINGS: dict[str, Any] = {**SHORT, "threads": 1}


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.nas").write_text(TINY)
    return tmp_path / "tiny.nas"


class Impatient(Notes):
    """A watcher that stops the run after some steps."""

    def logged(self, row: StepRow) -> None:
        super().logged(row)
        if row.step >= 12:
            raise Interrupted(row.step)


def test_resuming_a_search_gives_the_same_result(space: Path) -> None:
    whole = api.search(space, output="whole", **SETTINGS)
    with pytest.raises(Interrupted):
        api.search(space, output="cut", watch=(Impatient(),), **SETTINGS)
    gone_on = api.search(resume="cut", allow_python=True)
    assert gone_on.path == Path("cut")
    assert gone_on.outcome.decision == whole.outcome.decision
    assert json.loads(Path("cut/result.json").read_text()) == json.loads(Path("whole/result.json").read_text())


def test_resuming_takes_no_settings(space: Path) -> None:
    for wrong in (
        {},
        {"file": space, "resume": "run"},
        {"resume": "run", "batch": 3},
        {"resume": "run", "output": "x"},
        {"resume": "run", "recipe": "quick"},
    ):
        with pytest.raises(TypeError, match="a network and settings, or a run"):
            api.search(**wrong)
    with pytest.raises(NasError, match="`nowhere` does not exist"):
        api.search(resume="nowhere")


def test_recipes(space: Path) -> None:
    """Settings override the recipe; the device chooses it if it is not named."""
    settings = {key: value for key, value in SETTINGS.items() if key not in ("rate", "momentum")}
    space.with_suffix(".quick.toml").write_text("rate = 0.5\nmomentum = 0.25\n")
    space.with_suffix(".paper.toml").write_text("rate = 0.125\n")

    def found(**more: Any) -> tuple[float, float]:
        config = json.loads((api.search(space, **settings, **more).path / "run.json").read_bytes())["config"]
        return config["rate"], config["momentum"]

    assert found(device="cpu") == (0.5, 0.25)
    assert found(recipe="quick", momentum=0.75) == (0.5, 0.75)
    assert found(recipe="paper") == (0.125, 0.9)
    assert found(recipe="none") == (0.05, 0.9)
    with pytest.raises(NasError, match="has no recipe `fast`"):
        api.search(space, recipe="fast", **settings)
    with pytest.raises(NasError, match="has no recipe `fast`"):
        api.sweep(space, recipe="fast", **settings)


def test_folders_are_never_overwritten(space: Path) -> None:
    api.search(space, output="run", **SETTINGS)
    with pytest.raises(NasError, match="already exists"):
        api.search(space, output="run", **SETTINGS)
    assert api.search(space, **SETTINGS).path == Path("runs/tiny-1")


def test_what_was_found_is_trained(space: Path) -> None:
    found = api.search(space, output="run", **SETTINGS)
    given = {"data": SETTINGS["data"], "epochs": 1, "batch": 20, "cutout": 2, "threads": 1}
    trained = api.train(api.derive(found, width=6), output="trained", **given)
    assert 0 <= trained.outcome.score.accuracy <= 1
    assert (trained.path / "model.py").is_file()
    assert api.load(trained.path / "space" / "network.nas").name == "net"


COMPRESS: dict[str, Any] = {
    "data": SETTINGS["data"],
    "batch": 20,
    "epochs": 1,
    "loops": 2,
    "loop_epochs": 1,
    "fine_epochs": 1,
    "tolerance": 0.01,
    "threads": 1,
}


@dataclass
class Stages(CompressWatcher):
    """A watcher of compressions, which may give up after a loop."""

    last: int = 99
    names: list[str] = field(default_factory=list)
    loops: list[LoopRow] = field(default_factory=list)

    def stage_started(self, stage: Stage) -> None:
        self.names.append(stage.name)

    def loop_ended(self, loop: LoopRow) -> None:
        self.loops.append(loop)
        if loop.number == self.last:
            raise Interrupted(0)


def test_resuming_a_compression_gives_the_same_result(space: Path) -> None:
    space.write_text(LENET)
    watcher = Stages()
    whole = api.compress(space, output="whole", intensity=1e-4, watch=(watcher,), **COMPRESS)
    assert watcher.names == ["dense", "loops", "loops", "fine"]
    assert [loop.intensity for loop in watcher.loops] == [1e-4, 1e-4]
    outcome = whole.outcome
    assert outcome.loops == 2
    assert watcher.loops[-1].size == outcome.left.size
    assert outcome.left.size.operations < outcome.whole.size.operations
    assert api.load(whole.path / "network.nas").name == "lenet"
    with pytest.raises(Interrupted):
        api.compress(space, output="cut", intensity=1e-4, watch=(Stages(last=2),), **COMPRESS)
    gone_on = api.compress(resume="cut", allow_python=True)
    assert gone_on.outcome.left.size == outcome.left.size
    weights = [(run / "weights.safetensors").read_bytes() for run in (whole.path, gone_on.path)]
    assert weights[0] == weights[1]


def test_what_was_trained_is_compressed(space: Path) -> None:
    space.write_text(LENET)
    given = {"data": SETTINGS["data"], "epochs": 1, "batch": 20, "cutout": 2, "threads": 1}
    trained = api.train(space, output="trained", **given)
    settings = {**COMPRESS, "epochs": 0, "loops": 1, "patterns": {"conv": "shape", "y.conv": "none"}}
    del settings["data"]
    found = api.compress(trained, **settings)
    assert found.path == Path("runs/trained-compress-1")
    assert found.outcome.whole.score.accuracy == pytest.approx(trained.outcome.score.accuracy)
    assert {layer.name: list(layer.groups) for layer in found.outcome.layers} == {
        "y.conv": [],
        "y.conv_2": ["shape"],
        "linear": ["row", "column"],
        "linear_2": ["column"],
    }


def test_what_cannot_be_compressed(space: Path) -> None:
    for wrong in (
        {},
        {"source": space, "resume": "run"},
        {"resume": "run", "batch": 3},
        {"resume": "run", "output": "x"},
    ):
        with pytest.raises(TypeError, match="a network and settings, or a run"):
            api.compress(**wrong)
    with pytest.raises(NasError, match="has 4 choices"):
        api.compress(space, **COMPRESS)
    space.write_text(LENET)
    with pytest.raises(NasError, match="unknown pattern"):
        api.compress(space, patterns={"conv": "rows"}, **COMPRESS)
    assert not Path("runs").exists()


def test_checks(space: Path) -> None:
    assert api.check(space) == ()
    assert api.check("quickstart") == ()
    space.write_text("network net : image(1, 8, 8) -> classes(10) { in x x -> out : convv(3) }")
    assert [diagnostic.code for diagnostic in api.check(space)] == ["NAS101"]
    with pytest.raises(NasError, match="has no weights"):
        api.export("lenet5", weights="weights.safetensors")


def test_arrays_as_parameters() -> None:
    for depths in ([1, 2], (1, 2)):
        network = api.load("vgg11_bn", width=4, size=4, hidden=8, depths=depths, drop=0.25)
        assert dict(network.arguments)["depths"] == (1, 2)
        assert "depths = [1, 2], hidden = 8, norm = true, drop = 0.25," in repr(network)
    with pytest.raises(NasError, match="NAS601"):
        api.load("vgg11_bn", depths=[1, "two"])  # type: ignore[list-item]
