"""The commands `derive` and `export`: from a search run to self-contained files."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bayesnas_graph.cli import derive
from bayesnas_graph.cli.main import main
from bayesnas_graph.codegen.emit.text import LINE
from bayesnas_graph.runs.device import Device, find_device
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.searched import search_manifest
from bayesnas_graph.search.checkpoint import SearchCheckpoints, from_plain
from bayesnas_graph.search.problem import Problem
from tests.cli.conftest import Run
from tests.helpers import edit_json
from tests.search.spaces import SHORT, TINY, tiny_data

DATA = ("--data", "tests.search.spaces:tiny_data")
LARGER = """
import "tiny.nas"

network large(width = 8) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(width) > bn > block > block > block > block > global_avg_pool > linear(10)
}
"""
SEARCHED = {**{key: value for key, value in SHORT.items() if key != "data"}, "threads": 1}


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run."""
    where = tmp_path_factory.mktemp("derive")
    (where / "tiny.nas").write_text(TINY)
    (where / "large.nas").write_text(LARGER)
    (where / "tiny.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in SEARCHED.items()))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        patch.setattr(sys, "argv", ["bayesnas-graph", "search", "tiny.nas", *DATA, "-o", "run"])
        with pytest.raises(SystemExit) as exit:
            main()
    assert not exit.value.code
    return where


@pytest.fixture
def folder(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder to work in."""
    shutil.copytree(done, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def searched_network(run: Path) -> torch.nn.Module:
    """The network of the search with the weights it had in the end."""
    found = open_run(run)
    config = search_manifest(found).config
    device = Device.of(config, find_device("cpu"), Processes())
    problem = Problem(config, found.switched(), (), tiny_data(), found.space.network.graph())
    saved = SearchCheckpoints(found.folder.checkpoints, fingerprint=found.manifest.fingerprint)
    learner = saved.newest(device, lambda content: from_plain(content, problem, device)[0])
    assert learner is not None
    return learner.supernet.module.eval()


def built(source: Path, name: str = "Net") -> torch.nn.Module:
    scope: dict[str, Any] = {"__name__": "model"}
    exec(compile(source.read_text(), str(source), "exec"), scope)
    network: torch.nn.Module = scope[name]()
    return network.eval()


# ------------------------------------------------------------------------------------------ derive


def test_what_is_written(run: Run, folder: Path) -> None:
    result = run("derive", "run")
    assert result.code == 0, result.err
    files = sorted(path.name for path in (folder / "run" / "derived").iterdir())
    assert files == ["decision.json", "derived.json", "network.nas"]
    assert "tiny.nas:" in result.out
    assert "choose { twice, conv(), max_pool(3) }" in result.out, "the line of the text is shown"
    text = (folder / "run" / "derived" / "network.nas").read_text()
    assert text.startswith("//! Network `net(width = 4)` of tiny.nas")
    assert "// gamma " in text
    assert "choose" not in text.partition("\n\n")[2]
    about = json.loads((folder / "run" / "derived" / "derived.json").read_text())
    assert about["rule"] == "every switch with a positive entropy"
    assert f"{about['weights']:,} parameters" in result.out


def test_many_candidates_are_counted(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = run("derive", "run").out
    monkeypatch.setattr(derive, "MOST_KEPT", 0)
    counted = run("derive", "run").out
    assert "  + " in listed
    assert "  + " not in counted
    heading, *table = counted.splitlines()[
        : counted.splitlines().index("`--all` lists every switch; `decision.json` has them too")
    ]
    assert heading == "kept candidates, by cell and operation"
    entries = [tuple(map(int, entry.split("/"))) for line in table for entry in re.findall(r"\d+/\d+", line)]
    decided = json.loads(Path("run/derived/decision.json").read_text())["verdicts"]
    kept, all_ = map(sum, zip(*entries, strict=True))
    assert kept == listed.count("  + ")
    dropped = sum(int(number) for number in re.findall(r"^  - (\d+)", listed, re.MULTILINE))
    assert all_ == kept + dropped < len(decided), "zero switches are counted with their candidates"
    if dropped:
        assert table[-1].startswith("dropped: ")
    assert run("derive", "run", "--all").out == listed
    for line in (
        "switches stay: ",
        " parameters, ",
        "wrote network.nas, decision.json and derived.json to run/derived\n",
    ):
        assert line in counted


@pytest.mark.parametrize("verb", [["check"], ["stats"], ["fmt", "--check"], ["draw", "-o", "picture.svg"]])
def test_other_verbs_take_it(verb: list[str], run: Run, folder: Path) -> None:
    run("derive", "run")
    network = folder / "run" / "derived" / "network.nas"
    result = run(*verb, network)
    assert result.code == 0, result.err + result.out
    assert run("diff", network, network).code == 0


def test_it_can_be_searched(run: Run, folder: Path) -> None:
    run("derive", "run")
    (folder / "run" / "derived" / "network.toml").write_text((folder / "tiny.toml").read_text())
    result = run("search", "run/derived/network.nas", *DATA, "-o", "again")
    assert result.code == 0, result.err
    assert "warning[NAS606]" in result.err
    assert "there was nothing to decide" in result.out


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--keep-per-edge", "1"], "1 candidate on every edge, by relevance"),
        (["--keep-per-node", "1", "--rank", "gamma"], "1 edge into every node, 1 candidate on every edge, by gamma"),
        (["--budget", "params=600"], "at most 600 weights, by relevance"),
        (["--budget", "flops=1M", "--rank", "removal"], "at most 1,000,000 multiply-adds, by removal"),
    ],
)
def test_rules(options: list[str], rule: str, run: Run, folder: Path) -> None:
    result = run("derive", "run", "-o", "out", *options)
    assert result.code == 0, result.err
    assert json.loads((folder / "out" / "derived.json").read_text())["rule"] == rule
    assert run("check", "out/network.nas").code == 0


def test_cells_in_another_network(run: Run, folder: Path) -> None:
    small = run("derive", "run", "-o", "small")
    wide = run("derive", "run", "-o", "wide", "-p", "width=16")
    large = run("derive", "run", "-o", "large", "--space", "large.nas", "--network", "large")
    assert (small.code, wide.code, large.code) == (0, 0, 0), large.err
    weights = [
        json.loads((folder / name / "derived.json").read_text())["weights"] for name in ("small", "wide", "large")
    ]
    assert weights[0] < min(weights[1:])
    kept = [
        {v["name"] for v in json.loads((folder / name / "decision.json").read_text())["verdicts"] if v["keep"]}
        for name in ("small", "large")
    ]
    assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["tiny.nas"], 1, "error[NAS602]: `tiny.nas` is not a run folder"),
        (["nowhere"], 1, "error[NAS602]: `nowhere` does not exist"),
        (["."], 1, "error[NAS602]: `.` is not a run folder"),
        (["run", "--budget", "params=10"], 1, "error[NAS614]"),
        (["run", "--budget", "size=10"], 2, "is not of the form params=1.5M"),
        (["run", "--budget", "params=few"], 2, "`few` is not a size"),
        (["run", "--keep-per-edge", "0"], 2, "--keep-per-edge"),
        (["run", "--rank", "luck"], 2, "luck"),
        (["run", "--network", "other"], 1, "error[NAS107]"),
        (["run", "--space", "quickstart"], 1, "error[NAS615]"),
        (["run", "--architecture", "|none~0|"], 2, "takes a space"),
        (["tiny.nas", "--architecture", "|none~0|"], 1, "error[NAS70"),
        (["nasbench201", "--architecture", "@missing.txt"], 1, "error[NAS011]"),
        (["run", "--string"], 2, "no string notation"),
    ],
)
def test_what_goes_wrong(arguments: list[str], code: int, said: str, run: Run, folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    result = run("derive", *arguments)
    assert result.code == code, result.err + result.out
    assert said in result.err
    assert sorted(folder.rglob("*")) == before, "nothing is half-written"


def test_nothing_connects(run: Run, folder: Path) -> None:
    empty = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"
    result = run("derive", "nasbench201", "--architecture", empty, "-o", "out")
    assert result.code == 1
    assert "error[NAS612]: nothing reaches the output" in result.err
    assert not (folder / "out").exists()


@pytest.mark.parametrize("name", ["decision.json", "run.json"])
def test_damaged_runs(name: str, run: Run, folder: Path) -> None:
    whole = (folder / "run" / name).read_text()
    for text, said in ((whole[:-40], "error[NAS602]: cannot read"), (None, "error[NAS602]")):
        (folder / "run" / name).unlink()
        if text is not None:
            (folder / "run" / name).write_text(text)
        result = run("derive", "run")
        assert result.code == 1
        assert said in result.err


def test_a_run_that_has_not_ended(run: Run, folder: Path) -> None:
    (folder / "run" / "decision.json").unlink()
    result = run("derive", "run")
    assert "has not finished" in result.err
    assert "bayesnas-graph search --resume run" in result.err


def test_strings(run: Run, folder: Path) -> None:
    text = "|nor_conv_3x3~0|+|none~0|nor_conv_1x1~1|+|skip_connect~0|none~1|nor_conv_3x3~2|"
    (folder / "cell.txt").write_text(f"{text}\n")
    for given in (text, "@cell.txt"):
        result = run("derive", "nasbench201", "--architecture", given, "--string")
        assert result.out == f"{text}\n", result.err


# ------------------------------------------------------------------------------------------ export


def test_weights_of_the_search(run: Run, folder: Path) -> None:
    result = run("export", "run", "-o", "model.py", "--weights", "model.safetensors")
    assert result.code == 0, result.err
    network = built(folder / "model.py")
    network.load_state_dict(load_file(folder / "model.safetensors"), strict=True)
    x = torch.randn(5, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    expected = searched_network(folder / "run")
    with torch.no_grad():
        torch.testing.assert_close(network(x), expected(x), rtol=1e-4, atol=1e-5)
        # Weights are stored in single precision, with the gates folded into them.
        torch.testing.assert_close(network.double()(x.double()), expected.double()(x.double()), rtol=1e-5, atol=1e-7)


def test_twice_the_same_bytes(run: Run, folder: Path) -> None:
    for name in ("one", "two"):
        assert run("export", "run", "-o", f"{name}.py", "--weights", f"{name}.safetensors").code == 0
    assert (folder / "one.py").read_bytes() == (folder / "two.py").read_bytes()
    assert (folder / "one.safetensors").read_bytes() == (folder / "two.safetensors").read_bytes()


def test_the_run_and_its_text_are_one_source(run: Run, folder: Path) -> None:
    """Equal except for the docstring, which names the origin."""
    run("derive", "run")
    assert run("export", "run", "-o", "of_run.py").code == 0
    assert run("export", "run/derived/network.nas", "-o", "of_text.py").code == 0
    bodies = [
        ast.dump(ast.Module(ast.parse((folder / f"{n}.py").read_text()).body[1:], [])) for n in ("of_run", "of_text")
    ]
    assert bodies[0] == bodies[1]


def test_it_runs_alone(run: Run, folder: Path) -> None:
    run("export", "run", "-o", "alone/model.py", "--weights", "alone/model.safetensors")
    code = (
        "import sys; sys.modules['bayesnas_graph'] = None\n"
        "import torch, model; from safetensors.torch import load_file\n"
        "net = model.Net(); net.load_state_dict(load_file('model.safetensors'))\n"
        "print(tuple(net(torch.zeros(2, 1, 8, 8)).shape))"
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder / "alone", env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "(2, 10)\n", done.stderr


def test_recalibrated(run: Run, folder: Path) -> None:
    result = run(
        "export", "run", "-o", "model.py", "--weights", "new.safetensors", "--recalibrate", "2", "--allow-python"
    )
    assert result.code == 0, result.err
    assert "norms on 2 batches" in result.out
    run("export", "run", "-o", "old.py", "--weights", "old.safetensors")
    old, new = load_file(folder / "old.safetensors"), load_file(folder / "new.safetensors")
    assert old.keys() == new.keys()
    changed = {name.rpartition(".")[2] for name in old if not torch.equal(old[name], new[name])}
    assert changed <= {"running_mean", "running_var", "num_batches_tracked"}
    assert "running_mean" in changed


def test_formats_of_other_tools(run: Run, folder: Path) -> None:
    names = {"--onnx": "net.onnx", "--torchscript": "net.pt", "--torch-export": "net.pt2"}
    given = [word for pair in names.items() for word in pair]
    result = run("export", "run", "-o", "model.py", "--weights", "w.safetensors", *given)
    assert result.code == 0, result.err
    for name in names.values():
        assert (folder / name).stat().st_size > 1000
        assert f"wrote {name}: " in result.out


def test_linters_have_nothing_to_say(run: Run, folder: Path, type_errors: Callable[..., str]) -> None:
    run("export", "run", "-o", "model.py", "--weights", "w.safetensors")
    run("export", "darts_v2", "-o", "darts.py")
    for command in (
        ["ruff", "check", "--isolated"],
        ["ruff", "format", "--isolated", "--check", "--line-length", str(LINE)],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command, "model.py", "darts.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
    assert type_errors(folder / "model.py", folder / "darts.py") == ""


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["tiny.nas"], 1, "error[NAS610]"),
        (["lenet5", "--weights", "w.safetensors"], 1, "error[NAS616]"),
        (["run", "-p", "width=8", "--weights", "w.safetensors"], 1, "error[NAS616]"),
        (["lenet5", "--keep-per-edge", "1"], 2, "has no switches to select"),
        (["run", "-o", "/proc/nowhere/model.py"], 1, "error[NAS012]"),
        (["missing.nas"], 1, "error[NAS011]"),
    ],
)
def test_what_cannot_be_exported(arguments: list[str], code: int, said: str, run: Run, folder: Path) -> None:
    result = run("export", *arguments)
    assert result.code == code, result.err + result.out
    assert said in result.err


def test_weights_behind_closed_switches_are_gone(run: Run, folder: Path) -> None:
    decision = json.loads((folder / "run" / "decision.json").read_text())
    assert not all(verdict["keep"] for verdict in decision["verdicts"]), "the search has closed something"

    def reopen(decision: dict[str, Any]) -> None:
        for verdict in decision["verdicts"]:
            verdict["relevance"] = verdict["relevance"] if verdict["keep"] else 1e9

    edit_json(folder / "run" / "decision.json", reopen)
    result = run("export", "run", "--keep-per-edge", "3", "--weights", "w.safetensors")
    assert result.code == 1
    assert "error[NAS616]: no weights available for" in result.err
    assert not (folder / "w.safetensors").exists()


# ---------------------------------------------------------------------------------- train and eval


def test_a_derived_network_is_trained(run: Run, folder: Path) -> None:
    settings = ["--epochs", "1", "--batch", "20", "-s", "cutout=2", "-s", "threads=1", "--drop-path", "0"]
    result = run("train", "run", *DATA, *settings, "-p", "width=6", "-o", "trained")
    assert result.code == 0, result.err
    assert (folder / "trained" / "space" / "network.nas").is_file()
    network = built(folder / "trained" / "model.py")
    network.load_state_dict(load_file(folder / "trained" / "weights.safetensors"), strict=True)
    assert run("train", "--resume", "trained", "--allow-python").code == 0, "its copy has no parameters"
    assert run("eval", "trained", "--allow-python", "--runs", "1").code == 0


def test_it_is_trained_on_the_data_of_the_search(run: Run, folder: Path) -> None:
    settings = ["--epochs", "1", "--batch", "20", "-s", "cutout=2", "-s", "threads=1", "--drop-path", "0"]
    refused = run("train", "run", *settings, "-o", "trained")
    assert "error[NAS105]" in refused.err, "these data are Python code, named by the run"
    for other, used in (["--allow-python"], DATA[1]), (["--data", "digits"], "digits"):
        assert run("train", "run", *settings, "-o", used.partition(":")[0], *other).code == 0
        assert json.loads((folder / used.partition(":")[0] / "run.json").read_text())["config"]["data"] == used


def test_what_was_found_is_measured(run: Run, folder: Path) -> None:
    result = run("eval", "run", "--allow-python", "--runs", "1", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    told = json.loads((folder / "run" / "result.json").read_text())
    assert found["accuracy"] == pytest.approx(told["accuracy"], abs=0.02), "the weights of the search, in float32"
    assert (found["parameters"], found["flops"]) == (told["parameters"], told["flops"])
    assert run("eval", "run", "--allow-python", "-p", "width=3").code == 2
