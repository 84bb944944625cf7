"""Python code that a file names runs only if the command line names or allows it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from tests.cli.conftest import Run
from tests.cli.test_sweep import ASKED
from tests.helpers import edit_json, mostly_long

SPACE = """
network net : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : choose { conv(4), conv(4, 1) } > bn > relu > global_avg_pool > linear(10)
}
"""
CODE = """
from pathlib import Path
from typing import Any
import torch

Path(__file__).with_name("imported").touch()

def load():
    def samples(count):
        return torch.utils.data.TensorDataset(torch.rand(count, 1, 8, 8), torch.arange(count) % 10)
    return samples(60), samples(20)

def change(images, generator):
    return images
"""
SHORT = {
    "search": ("-s", "batch=8", "-s", "steps=2", "-s", "warmup=0", "-s", "iterations=1"),
    "train": ("-s", "batch=8", "-s", "epochs=1", "-s", "cutout=0"),
    "compress": ("-s", "batch=8", "-s", "epochs=1", "-s", "loops=1", "-s", "fine_epochs=1"),
}
FILES = {"search": "space.nas", "train": "fixed.nas", "compress": "fixed.nas"}
ALLOWED = "--allow-python"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of every kind, on data without code."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "space.nas").write_text(SPACE)
    (folder / "fixed.nas").write_text(SPACE.replace("choose { conv(4), conv(4, 1) }", "conv(4)"))
    space, fixed = folder / "space.nas", folder / "fixed.nas"
    api.search(space, output=folder / "search", data="shapes", batch=8, steps=2, warmup=0, iterations=1)
    api.train(fixed, output=folder / "train", data="shapes", batch=256, epochs=1, cutout=0)
    short: dict[str, Any] = {"epochs": 1, "loops": 1, "fine_epochs": 1}
    api.compress(fixed, output=folder / "compress", data="shapes", batch=256, **short)
    return folder


@pytest.fixture
def folder(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the working directory, with a module that leaves a file when it is imported."""
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    (tmp_path / "stranger.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "stranger", raising=False)
    return tmp_path


def imported(folder: Path) -> bool:
    return (folder / "imported").exists()


def name_code(run: Path) -> None:
    """Change the data of a run to code."""
    edit_json(run / "run.json", lambda about: about["config"].update(data="stranger:load"))


@pytest.mark.parametrize("verb", mostly_long(["search", "compress"], "search"))
def test_a_recipe_beside_a_space(run: Run, folder: Path, verb: str) -> None:
    name = "space.toml" if verb == "search" else "fixed.compress.toml"
    (folder / name).write_text('# a gift\ndata = "stranger:load"\n')
    refused = run(verb, FILES[verb], "-o", "new", *SHORT[verb])
    assert (refused.code, imported(folder), (folder / "new").exists()) == (1, False, False)
    assert f"error[NAS105]: `{name}` names Python code as its data, which would be imported and run" in refused.err
    assert f"{name}:2:1" in refused.err
    assert run(verb, FILES[verb], "-o", "other", *SHORT[verb], "--data", "shapes").code == 0
    assert not imported(folder)
    allowed = run(verb, FILES[verb], "-o", "new", *SHORT[verb], ALLOWED)
    assert (allowed.code, imported(folder)) == (0, True), allowed.err


def test_a_settings_file_is_a_file(run: Run, folder: Path) -> None:
    (folder / "mine.toml").write_text('data = "stranger:load"\n')
    refused = run("train", "fixed.nas", "--config", "mine.toml")
    assert (refused.code, imported(folder)) == (1, False)
    assert "NAS105" in refused.err


@pytest.mark.parametrize("how", [("--data", "stranger:load"), ("-s", "data=stranger:load")])
def test_the_command_line_names_code(run: Run, folder: Path, how: tuple[str, str]) -> None:
    assert run("train", "fixed.nas", "-o", "new", *SHORT["train"], *how).code == 0
    assert imported(folder)


@pytest.mark.parametrize("code", ["stranger:change", "folder:change"])
def test_augmentation_is_code(run: Run, folder: Path, code: str) -> None:
    """In a recipe, a settings file or a run of someone else."""
    (folder / "stranger.py").rename(folder / f"{code.partition(':')[0]}.py")
    (folder / "fixed.compress.toml").write_text(f'augment = "{code}"\n')
    edit_json(folder / "train" / "run.json", lambda about: about["config"].update(augment=code))
    small = ("--data", "shapes", *SHORT["compress"])
    verbs = (
        ("train", "fixed.nas", "--config", "fixed.compress.toml", *small),
        ("compress", "fixed.nas", *small),
        ("train", "--resume", "train"),
        ("compress", "train", *SHORT["compress"]),
    )
    for words in verbs:
        refused = run(*words)
        assert (refused.code, imported(folder)) == (1, False), (words, refused.err)
        assert "names Python code as its augmentation, which would be imported and run" in refused.err
    assert "run.json --allow-python" not in run("status", "train").out
    assert run("eval", "train").code == 0
    assert not imported(folder), "it does not augment"
    allowed = run("train", "--resume", "train", ALLOWED)
    assert imported(folder), allowed.err
    assert (
        run("train", "fixed.nas", *SHORT["train"], "--data", "shapes", "-s", f"augment={code}", "-o", "new").code == 0
    )
    sys.modules.pop(code.partition(":")[0], None)


@pytest.mark.parametrize("kind", ["search", "train", "compress"])
def test_a_run_from_someone_else(run: Run, folder: Path, kind: str) -> None:
    name_code(folder / kind)
    verbs = [(kind, "--resume", kind), ("eval", kind), ("compress", kind, *SHORT["compress"])]
    if kind == "search":
        verbs.append(("export", kind, "-o", "net.py", "--weights", "net.safetensors", "--recalibrate", "1"))
    for words in verbs:
        refused = run(*words)
        assert (refused.code, imported(folder)) == (1, False), (words, refused.err)
        assert f"error[NAS105]: `{kind}/run.json` names Python code as its data" in refused.err
    for words in (("status", kind), ("report", kind, "-o", "page.html"), ("eval", kind, "--data", "shapes")):
        assert run(*words).code == 0
        assert not imported(folder)
    assert run("eval", kind, ALLOWED).code == 0
    assert imported(folder)


def test_a_sweep_from_someone_else(run: Run, folder: Path) -> None:
    (folder / "sweep" / "space").mkdir(parents=True)
    shutil.copy("space.nas", folder / "sweep" / "space")
    asked = {"file": "space.nas", "python_ops": False, "settings": {"data": "stranger:load"}, "sweep": ["lambda=1,2"]}
    (folder / "sweep" / "sweep.json").write_text(json.dumps(ASKED | asked))
    assert run("report", "sweep", "-o", "page.html").code == 0, "nothing is loaded"
    refused = run("search", "--resume", "sweep")
    assert (refused.code, imported(folder)) == (1, False)
    assert "error[NAS105]: `sweep/sweep.json` names Python code as its data" in refused.err


def test_keywords_name_code(folder: Path) -> None:
    """In Python, the caller names the code, but a recipe does not."""
    short: dict[str, Any] = {"batch": 8, "steps": 2, "warmup": 0, "iterations": 1}
    (folder / "space.toml").write_text('data = "stranger:load"\n')
    with pytest.raises(NasError, match="names Python code"):
        api.search("space.nas", output="new", **short)
    with pytest.raises(NasError, match="names Python code"):
        api.sweep("space.nas", output="new", **short)
    assert not imported(folder)
    api.search("space.nas", output="new", data="stranger:load", **short)
    assert imported(folder)
