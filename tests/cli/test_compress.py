"""The command `compress`: its output files, their use, and resuming."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bayesnas_graph.cli.main import main
from bayesnas_graph.data import load, normalise
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.passes.analysis import cost, operations
from bayesnas_graph.runs.tables import read_table
from tests.cli.conftest import Result, Run
from tests.helpers import edit_json
from tests.search.spaces import TINY
from tests.train.compress.small import LENET, SMALL

TINY_DATA = ("--data", "tests.search.spaces:tiny_data")
ONE = ("--epochs", "1", "--loops", "1", "--fine-epochs", "1", "-s", "loop_epochs=1")
QUICK = (*ONE, "-s", "batch=20", "-s", "threads=1")
FAST = (*TINY_DATA, *QUICK)
# Long enough to learn something, and to remove what is of no use.
TWO = (
    "--epochs",
    "2",
    "--loops",
    "2",
    "--fine-epochs",
    "2",
    "-s",
    "loop_epochs=1",
    "-s",
    "batch=50",
    "-s",
    "threads=1",
)
LEARNS = ("--data", "digits", *TWO, "-s", "rate=0.1", "-s", "fine_rate=0.02", "-s", "tolerance=0.2", "--lambda", "1e-5")


def prepare(folder: Path) -> None:
    for name, text in (("small", SMALL), ("lenet", LENET), ("tiny", TINY)):
        (folder / f"{name}.nas").write_text(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with networks, one of which has choices."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_a_new_folder(factory: pytest.TempPathFactory, *arguments: str) -> Path:
    where = factory.mktemp("done")
    prepare(where)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        patch.setattr(sys, "argv", ["bayesnas-graph", *arguments, "-o", "run"])
        with pytest.raises(SystemExit) as exit:
            main()
    assert not exit.value.code
    return where / "run"


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished compression run, with a baseline."""
    return in_a_new_folder(tmp_path_factory, "compress", "small.nas", *LEARNS, "--rival")


@pytest.fixture
def copied(done: Path, folder: Path) -> Path:
    """A copy of the run, to modify."""
    shutil.copytree(done, folder / "run")
    return folder / "run"


def of_json(path: Path) -> Any:
    return json.loads(path.read_text())


def sound(result: Result) -> Result:
    """It succeeds or reports a user error, without an internal error."""
    assert "this is a fault" not in result.err
    assert "Traceback" not in result.err
    return result


# ------------------------------------------------------------------------------------ what it leaves


def test_what_is_printed(run: Run, folder: Path) -> None:
    result = run("compress", "small.nas", *FAST)
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[:4] == [
        "run            runs/small-compress-1",
        "",
        "train: the whole network",
        "epochs         1 of 9 steps",
    ]
    written = "wrote network.nas, model.py, weights.safetensors, layers.json and result.json to runs/small-compress-1"
    for line in ("prune: under the penalty", "train: the smaller network", written):
        assert line in lines
    table = {line.split()[0]: line.split()[1:] for line in lines if line}
    assert table["before"] == ["after"]
    assert table["parameters"][0] == "4,668"
    assert lines[-2:] == ["measure it with", "  bayesnas-graph eval runs/small-compress-1 --allow-python"]
    assert run("compress", "small.nas", *FAST, "-o", "runs/small-compress-1").err.startswith(
        "error[NAS602]: `runs/small-compress-1` already exists"
    )


def test_files(done: Path) -> None:
    files = {path.name for path in done.iterdir() if path.is_file()}
    assert files == {
        *("lock", "run.json", "metrics.csv", "loops.csv", "rival.csv", "result.json", "layers.json"),
        *("network.nas", "model.py", "weights.safetensors", "checksums.json"),
    }
    assert {path.stem for path in (done / "stages").iterdir()} == {"dense", "loop-01", "loop-02", "fine", "rival"}
    assert not list(done.rglob("*.part"))


def test_the_network_is_a_file_of_the_language(run: Run, done: Path) -> None:
    result = run("check", done / "network.nas")
    assert result.code == 0, result.out + result.err
    assert run("fmt", "--check", done / "network.nas").code == 0
    found, told = load_network(done / "network.nas").network.graph(), of_json(done / "result.json")
    assert cost(found).parameters == told["parameters"] == told["left"]["parameters"]
    assert cost(found).flops == told["flops"] == told["left"]["flops"]
    assert operations(found) == told["left"]["operations"]
    assert told["left"]["operations"] < told["whole"]["operations"]


ALONE = """
import sys, torch
sys.modules["bayesnas_graph"] = None
from safetensors.torch import load_file
import model
network = model.Net()
network.load_state_dict(load_file("weights.safetensors"), strict=True)
x, y = torch.load("test.pt", weights_only=True)
print((network.eval()(x).argmax(1) == y).float().mean().item())
"""


def test_the_source_runs_alone(copied: Path) -> None:
    """And it has the accuracy that the run reports."""
    digits = load("digits", Path("data"), image_shape=(1, 8, 8), seed=0)
    images, labels = digits.test.take(torch.arange(len(digits.test)))
    torch.save([normalise(images, digits.statistics), labels], copied / "test.pt")
    ended = subprocess.run([sys.executable, "-c", ALONE], cwd=copied, check=True, capture_output=True, text=True)
    assert float(ended.stdout) == pytest.approx(of_json(copied / "result.json")["accuracy"])


def test_tables_and_results_agree(done: Path) -> None:
    result, layers = of_json(done / "result.json"), of_json(done / "layers.json")
    loops, metrics, rival = (read_table(done / f"{name}.csv") for name in ("loops", "metrics", "rival"))
    assert [row["loop"] for row in loops] == ["1", "2"]
    assert result["loops"] == 2
    for key in ("parameters", "flops", "operations"):
        assert int(loops[-1][key]) == result["left"][key]
        assert int(loops[0][key]) >= int(loops[1][key])
        assert sum(layer["parameters"]["of"] for layer in layers) <= result["whole"]["parameters"]
    assert [int(row["epoch"]) for row in metrics] == [1, 2, 3, 4, 5, 6]
    steps = [int(row["step"]) for row in metrics]
    assert steps == [27, 54, 81, 108, 138, 168], "the last stage sees all samples"
    assert float(metrics[-1]["test_accuracy"]) == pytest.approx(result["accuracy"], abs=1e-5)
    assert result["accuracy"] == result["left"]["accuracy"]
    assert float(metrics[1]["test_accuracy"]) == pytest.approx(result["whole"]["accuracy"], abs=1e-5)
    assert [int(row["epoch"]) for row in rival] == [1, 2, 3, 4], "as many as the loops and what follows them"
    assert float(rival[-1]["test_accuracy"]) == pytest.approx(result["rival"]["accuracy"], abs=1e-5)
    assert result["rival"]["operations"] <= result["left"]["operations"]
    assert all(one["median"] > 0 for which in ("whole", "left") for one in result[which]["latency"])


def test_layers(done: Path) -> None:
    whole, left = (load_network(path).network.graph() for path in (done / "space" / "small.nas", done / "network.nas"))
    layers = of_json(done / "layers.json")
    assert [layer["name"] for layer in layers] == [n.name for n in whole if n.op.name in ("conv", "linear")]
    for layer in layers:
        for part in (*layer["groups"].values(), layer["outputs"], layer["inputs"], layer["parameters"]):
            assert 0 <= part["kept"] <= part["of"]
        assert layer["outputs"]["of"] == whole[layer["name"]].shape[0]
        assert 0 <= layer["zeros"] <= 1
    widths = sorted(layer["outputs"]["kept"] for layer in layers if layer["outputs"]["kept"])
    assert widths == sorted(node.shape[0] for node in left if node.op.name in ("conv", "linear"))
    total = sum(layer["parameters"]["kept"] for layer in layers)
    norms = sum(2 * node.shape[0] for node in left if node.op.name == "bn")
    assert total + norms == of_json(done / "result.json")["parameters"]


def test_it_has_learnt_something(done: Path) -> None:
    result = of_json(done / "result.json")
    assert result["whole"]["accuracy"] > 0.5
    assert result["accuracy"] > 0.5


# ------------------------------------------------------------------------------- what can be done with it


def test_eval(run: Run, done: Path) -> None:
    told = of_json(done / "result.json")
    found = json.loads(run("eval", done, "--allow-python", "--json", "--runs", "2").out)
    assert found["accuracy"] == pytest.approx(told["accuracy"])
    assert found["loss"] == pytest.approx(told["left"]["loss"], rel=1e-4)
    assert (found["parameters"], found["flops"]) == (told["parameters"], told["flops"])
    by_file = run("eval", done / "network.nas", "--weights", done / "weights.safetensors", "--data", "digits", "--json")
    assert json.loads(by_file.out)["accuracy"] == found["accuracy"]


def test_export(run: Run, copied: Path, folder: Path) -> None:
    result = run("export", "run", "-o", "model.py", "--weights", "model.safetensors")
    assert result.code == 0, result.err
    weights = load_file(folder / "model.safetensors")
    scope: dict[str, Any] = {"__name__": "model"}
    exec(compile((folder / "model.py").read_text(), "model.py", "exec"), scope)
    network = scope["Net"]()
    network.load_state_dict(weights, strict=True)
    one: dict[str, Any] = {"__name__": "model"}
    exec(compile((copied / "model.py").read_text(), "model.py", "exec"), one)
    other = one["Net"]()
    other.load_state_dict(load_file(copied / "weights.safetensors"))
    x = torch.randn(3, 1, 8, 8)
    torch.testing.assert_close(network.eval()(x), other.eval()(x))
    assert sound(run("export", "run", "-o", "other.py", "--network", "net")).code == 2


def test_status(run: Run, copied: Path) -> None:
    result = run("status", "run")
    assert result.code == 0
    assert "state          finished: all epochs are done" in result.out
    assert "epoch          6 of 6" in result.out
    found = json.loads(run("status", "run", "--json").out)
    assert (found["kind"], found["state"], found["epochs"], found["resume"]) == ("compress", "finished", 6, None)
    (copied / "result.json").unlink()
    assert run("status", "run").out.endswith("resume with\n  bayesnas-graph compress --resume run\n")


def test_once_more(run: Run, copied: Path, folder: Path) -> None:
    """The result of a compression is compressed again, on the same data."""
    result = run("compress", "run", *QUICK, "--epochs", "0", "-s", "batch=100", "-o", "again", "-s", "tolerance=0.5")
    assert result.code == 0, result.err
    before, after = (of_json(folder / name / "result.json") for name in ("run", "again"))
    assert after["whole"]["accuracy"] == pytest.approx(before["accuracy"]), "nothing was trained before"
    assert after["whole"]["operations"] == before["left"]["operations"]
    assert after["left"]["operations"] < before["left"]["operations"]
    assert of_json(folder / "again" / "run.json")["config"]["data"] == "digits"
    assert [row["epoch"] for row in read_table(folder / "again" / "metrics.csv")] == ["1", "2"]


# ----------------------------------------------------------------------------------------- going on


def test_resuming_keeps_the_settings(run: Run, copied: Path) -> None:
    for more, message in (
        (("--lambda", "3"), "`--resume` takes no settings, but got `--lambda 3.0`"),
        (("--pattern", "conv=row"), "`--resume` takes no settings, but got `--pattern conv=row`"),
    ):
        result = sound(run("compress", "--resume", "run", "--allow-python", *more))
        assert result.code == 1
        assert message in result.err
    before = {
        path.name: path.read_bytes() for path in copied.iterdir() if path.suffix in (".safetensors", ".py", ".csv")
    }
    assert run("compress", "--resume", "run", "--allow-python").code == 0
    assert {name: (copied / name).read_bytes() for name in before} == before


def test_damaged_runs(run: Run, copied: Path) -> None:
    for verb in ("train", "search"):
        assert f"error[NAS602]: `run` was not written by `{verb}`" in sound(run(verb, "--resume", "run")).err
    (copied / "weights.safetensors").unlink()
    for verb in ("eval", "compress", "export"):
        more = ("-o", "x.py") if verb == "export" else ()
        assert "error[NAS602]: `run` has no weights: it has not finished" in sound(run(verb, "run", *more)).err
    edit_json(copied / "run.json", lambda manifest: manifest["config"].update(loops="many"))
    assert "error[NAS602]" in sound(run("compress", "--resume", "run", "--allow-python")).err
    (copied / "run.json").write_text("{")
    assert "error[NAS602]: cannot read `run/run.json`" in sound(run("compress", "--resume", "run")).err
    for verb in ("compress", "eval", "status"):
        assert sound(run(verb, "run")).code == 1
