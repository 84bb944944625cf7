"""The command `search`: run folders, resuming, and errors."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.cli.main import main
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.manifest import read_manifest
from tests.cli.conftest import Run, settings
from tests.helpers import edit_json
from tests.search.runs import results
from tests.search.spaces import TINY

QUICK = {"batch": 20, "iterations": 1, "steps": 2, "warmup": 1, "finish": 0, "lambda": 0.5, "threads": 1}
DATA = ("--data", "tests.search.spaces:tiny_data")


def prepare(folder: Path) -> None:
    (folder / "tiny.nas").write_text(TINY)
    (folder / "tiny.toml").write_text("".join(f"{key} = {value}\n" for key, value in QUICK.items()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a space and settings for a search of two steps."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    where = tmp_path_factory.mktemp("done")
    prepare(where)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        patch.setattr(sys, "argv", ["bayesnas-graph", "search", "tiny.nas", *DATA, "-o", "run"])
        with pytest.raises(SystemExit) as exit:
            main()
    assert not exit.value.code
    return where / "run"


@pytest.fixture
def copied(done: Path, folder: Path) -> Path:
    """A copy of the run, to modify."""
    shutil.copytree(done, folder / "run")
    return folder / "run"


# ---------------------------------------------------------------------------------------- beginning


def test_a_run_is_never_overwritten(run: Run, folder: Path) -> None:
    for number in (1, 2):
        result = run("search", "tiny.nas", *DATA)
        assert result.code == 0, result.err
        assert "settings from tiny.toml" in result.out
        assert (folder / "runs" / f"tiny-{number}" / "decision.json").exists()
    before = results(folder / "runs" / "tiny-1")
    result = run("search", "tiny.nas", *DATA, "-o", "runs/tiny-1", "--seed", 5)
    assert result.code == 1
    assert result.err == (
        "error[NAS602]: `runs/tiny-1` already exists\n"
        " = help: choose another folder, or resume the run in it with `--resume`\n\n"
    )
    assert results(folder / "runs" / "tiny-1") == before


def test_folders(run: Run, folder: Path) -> None:
    (folder / "empty").mkdir()
    assert run("search", "tiny.nas", *DATA, "-o", "empty").code == 0, "nobody minds an empty folder"
    (folder / "file").write_text("")
    assert "error[NAS602]: `file` is not a folder" in run("search", "tiny.nas", *DATA, "-o", "file").err
    inside = run("search", "tiny.nas", *DATA, "-o", "file/run")
    assert (inside.code, inside.err) == (1, "error[NAS012]: cannot write `file/run`: not a directory\n\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["tiny.nas"], 1, "error[NAS601]: no data to search on"),
        (["tiny.nas", "--data", "digit"], 1, "error[NAS501]: unknown data set `digit`"),
        (["tiny.nas", "--data", "no.module:data"], 1, "error[NAS505]"),
        (["tiny.nas", *DATA, "-s", "held_out=0.001"], 1, "error[NAS601]: only 0 of 200 samples are held out"),
        (["tiny.nas", *DATA, "--batch", 500], 1, "error[NAS601]: a batch of 500 is larger than"),
        (["tiny.nas", *DATA, "--batch", 0], 1, "error[NAS601]: `batch` should be greater than or equal to 1"),
        (["tiny.nas", *DATA, "--device", "cuda"], 1, "error[NAS609]: no device `cuda` is available"),
        (["tiny.nas", *DATA, "-p", "widht=3"], 1, "error[NAS"),
        (["tiny.nas", *DATA, "-p", "width=wide"], 2, "`wide` is not a number"),
        (["tiny.nas", *DATA, "-p", "width=[1, wide]"], 2, "`wide` is not a number"),
        (["tiny.nas", *DATA, "-p", "width=-3"], 1, "error[NAS"),
        (["tiny.nas", *DATA, "--network", "other"], 1, "error[NAS107]"),
        (["tiny.nas", *DATA, "--target-params", "many"], 2, "`many` is not a size"),
        (["tiny.nas", *DATA, "--config", "missing.toml"], 1, "error[NAS011]: cannot read `missing.toml`"),
        (["missing.nas", *DATA], 1, "error[NAS011]"),
        ([".", "--network", "other"], 1, "error[NAS107]"),
        (["-", *DATA], 1, "error[NAS011]"),
        ([], 2, "pass a network, or a run with `--resume`"),
        (["resnet18_cifar", *DATA], 1, "error[NAS504]"),
    ],
)  # fmt: skip
def test_errors_come_before_the_folder_is_created(
    arguments: list[Any], code: int, said: str, run: Run, folder: Path
) -> None:
    if arguments[:1] == ["resnet18_cifar"]:
        (folder / "tiny.toml").unlink()
    before = sorted(folder.iterdir())
    result = run("search", *arguments)
    assert result.code == code, result.err
    assert said in result.err
    assert sorted(folder.iterdir()) == before


def test_what_a_file_has_set_is_said(run: Run, folder: Path) -> None:
    """Data, network and its parameters, but not what the command line has set."""
    with Path("tiny.toml").open("a") as file:
        file.write('data = "shapes"\nnetwork = "net"\nparameters = {width = 3}\n')
    result = run("search", "tiny.nas", "-p", "width=5", *DATA)
    assert result.out.startswith("settings from tiny.toml\nnetwork        net (from tiny.toml)\nrun "), result.err
    (folder / "more.toml").write_text('data = "tests.search.spaces:tiny_data"\n')
    result = run("search", "tiny.nas", "--config", "more.toml", "--allow-python")
    assert result.out.splitlines()[1:4] == [
        "data           tests.search.spaces:tiny_data (from more.toml)",
        "network        net (from tiny.toml)",
        "parameters     width = 3 (from tiny.toml)",
    ], result.err


def test_recipes(run: Run, folder: Path) -> None:
    """A recipe is chosen by its name, or by the device; what was chosen is printed."""
    (folder / "tiny.toml").rename("tiny.quick.toml")
    shutil.copy("tiny.quick.toml", "tiny.paper.toml")
    with Path("tiny.paper.toml").open("a") as file:
        file.write("rate = 0.75\n")
    result = run("search", "tiny.nas", *DATA, "--device", "cpu")
    assert result.out.startswith("settings from tiny.quick.toml, because the device is not CUDA\n"), result.err
    result = run("search", "tiny.nas", *DATA, "--device", "cpu", "--recipe", "paper", "--seeds", 1)
    assert "settings from tiny.paper.toml\n" in result.out, result.err
    for name, rate in (("paper", "0.75"), ("quick", "0.05"), ("none", "0.05")):
        result = run("search", "tiny.nas", "--recipe", name, "--settings")
        assert settings(result.out)["rate"] == rate
        assert ("settings from" in result.out) == (name != "none")
    assert settings(run("search", "tiny.nas", "--device", "cuda", "--settings").out)["rate"] == "0.75"
    assert settings(run("search", "tiny.nas", "-s", "device=cuda", "--settings").out)["rate"] == "0.75"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["tiny.nas", "--recipe", "qick"], 1, "`qick`\n = help: did you mean `quick`? available: `bad`, `quick`"),
        (["tiny.nas", "--recipe", "zzz", "--settings"], 1, "has no recipe `zzz`\n = help: available: `bad`, `quick`"),
        (["lenet5", "--recipe", "compress"], 1, "error[NAS601]: `lenet5` has no named recipes"),
        (["missing.nas", "--recipe", "quick"], 1, "error[NAS011]: cannot read `missing.nas`: file not found"),
        (["tiny.nas", "--recipe", "bad"], 1, "[NAS601]: the settings file is not valid TOML\n --> tiny.bad.toml:1"),
        (["--recipe", "quick"], 2, "pass the space of the recipe"),
        (["--resume", "run", "--recipe", "quick"], 2, "a resumed run keeps its folder and its settings"),
    ],
)  # fmt: skip
def test_recipes_that_cannot_be_used(arguments: list[str], code: int, said: str, run: Run, folder: Path) -> None:
    (folder / "tiny.quick.toml").write_text("")
    (folder / "tiny.bad.toml").write_text("rate 3\n")
    result = run("search", *arguments)
    assert result.code == code
    assert said in result.err


def test_which_settings_count(run: Run, folder: Path) -> None:
    (folder / "more.toml").write_text("batch = 10\nrate = 0.5\n[parameters]\nwidth = 3\n")
    words = ("--config", "more.toml", "-s", "rate=0.25", "-s", "seed=7", "--seed", 8, "-p", "width=5")
    shown = settings(run("search", "tiny.nas", *words, "--settings").out)
    assert shown["steps"] == "2", "of the recipe"
    assert shown["batch"] == "10", "of the file that was named"
    assert shown["rate"] == "0.25", "of a word"
    assert shown["seed"] == "8", "of an option"
    assert shown["parameters.width"] == "5"
    assert shown["momentum"] == "0.9", "the default"


def test_a_wrong_recipe(run: Run, folder: Path) -> None:
    (folder / "tiny.toml").write_text("[parameters]\nbatch = 3\n\n[weights]\nrate = 1\n")
    assert run("search", "tiny.nas", *DATA).err == (
        "error[NAS601]: unknown setting `weights`\n"
        " --> tiny.toml:4:2\n"
        "  |\n"
        "4 | [weights]\n"
        "  |  ^^^^^^^ unknown\n"
        "  |\n"
        "  = help: `bayesnas-graph search --settings` lists them\n\n"
    )


# ---------------------------------------------------------------------------------------- going on


def test_resuming(run: Run, copied: Path) -> None:
    before = results(copied)
    assert run("search", "--resume", "run", "--allow-python").code == 0
    assert results(copied) == before
    assert run("search", "tiny.nas", "--resume", "run", "--allow-python").code == 0, (
        "naming the space again does no harm"
    )


def test_resuming_from_another_directory(run: Run, done: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = read_manifest(RunFolder(done))
    assert Path(manifest.data_dir).is_absolute()
    monkeypatch.chdir(folder.parent)
    assert run("search", "--resume", done, "--allow-python").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-s", "rate=1"], "`rate=1`"),
        (["--seed", 3, "--batch", 5], "`--batch 5`, `--seed 3`"),
        (["--config", "tiny.toml"], "`tiny.toml`"),
    ],
)
def test_settings_stay(arguments: list[Any], said: str, run: Run, copied: Path) -> None:
    result = run("search", "--resume", copied, "--allow-python", *arguments)
    assert result.code == 1
    assert f"error[NAS601]: `--resume` takes no settings, but got {said}\n" in result.err
    for option in (["-o", "other"], ["--settings"]):
        assert run("search", "--resume", copied, "--allow-python", *option).code == 2


def test_another_space(run: Run, copied: Path, folder: Path) -> None:
    (folder / "other.nas").write_text(TINY.replace("max_pool(3)", "avg_pool(3)"))
    result = run("search", "other.nas", "--resume", "run", "--allow-python")
    assert result.err == (
        "error[NAS604]: `run` was started with another space than `other.nas`\n"
        " = help: omit the space to resume with the run's own copy, or start another run\n\n"
    )
    (folder / "other.nas").write_text("// The same, said otherwise.\n" + TINY)
    assert run("search", "other.nas", "--resume", "run", "--allow-python").code == 0
    (copied / "space" / "tiny.nas").write_text(TINY.replace("max_pool(3)", "avg_pool(3)"))
    assert (
        "error[NAS602]: cannot use `run/space/tiny.nas`: it has changed since the run started\n"
        " = help: restore it; if you edited it, remove `files` and `checksum` from `run.json`\n"
    ) in run("search", "--resume", "run", "--allow-python").err
    before = (copied / "run.json").read_bytes()
    edit_json(copied / "run.json", lambda about: about.pop("files"))
    assert (
        "error[NAS604]: `run` was started with another space than `tiny.nas`"
        in run("search", "--resume", "run", "--allow-python").err
    )
    (copied / "run.json").write_bytes(before)
    (copied / "space" / "tiny.nas").unlink()
    assert "error[NAS011]" in run("search", "--resume", "run", "--allow-python").err


def changed(**entries: Any) -> Any:
    return lambda plain: plain | entries


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: b"", "cannot read `run/run.json`: it is damaged"),
        (lambda _: b"\xff\xfe{}", "cannot read `run/run.json`: it is damaged"),
        (lambda plain: json.dumps(plain)[:-30].encode(), "cannot read `run/run.json`: it is damaged"),
        (lambda _: [], "cannot read `run/run.json`: "),
        (lambda _: {}, "cannot read `run/run.json`: space: field required"),
        (changed(version=2), "cannot read `run/run.json`: version: input should be 1"),
        (changed(threads=0), "cannot read `run/run.json`: threads: input should be greater than or equal to 1"),
        (changed(config={"batch": 0}), "cannot read `run/run.json`: config.batch: input should be greater"),
        (changed(config={"colour": 0}), "cannot read `run/run.json`: config.colour: extra inputs are not permitted"),
        (lambda _: None, "`run` is not a run folder"),
    ],
)
def test_a_run_that_cannot_be_read(change: Any, said: str, run: Run, copied: Path) -> None:
    path = copied / "run.json"
    edit_json(path)
    content = change(json.loads(path.read_text()))
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    result = run("search", "--resume", "run", "--allow-python")
    assert result.code == 1
    assert result.err.startswith(f"error[NAS602]: {said}")
    assert " = help: " in result.err


def test_no_run(run: Run, folder: Path) -> None:
    for name, problem in (
        ("missing", "does not exist"),
        ("tiny.nas", "is not a run folder"),
        (".", "is not a run folder"),
    ):
        assert run("search", "--resume", name, "--allow-python").err == (
            f"error[NAS602]: `{name}` {problem}\n"
            " = help: give the folder written by `search`, which contains `run.json`\n\n"
        )
    (folder / "odd" / "run.json").mkdir(parents=True)
    assert (
        "error[NAS602]: cannot read `odd/run.json`: is a directory"
        in run("search", "--resume", "odd", "--allow-python").err
    )


def test_files_that_a_space_imports(run: Run, folder: Path) -> None:
    """They are copied with their relative paths, and the run no longer needs the originals."""
    motif, rest = TINY.split("cell block", 1)
    for path, text in (
        ("lib/deep/parts.nas", motif),
        ("spaces/tiny.nas", f'import "../lib/deep/parts.nas"\nimport "std.nas"\n\ncell block{rest}'),
    ):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text)
    shutil.copy("tiny.toml", "spaces/tiny.toml")
    assert run("search", "spaces/tiny.nas", *DATA, "-o", "run").code == 0
    found = sorted(str(path.relative_to("run/space")) for path in Path("run/space").rglob("*.nas"))
    assert found == ["lib/deep/parts.nas", "spaces/tiny.nas"]
    before = results(folder / "run")
    shutil.rmtree("lib")
    shutil.rmtree("spaces")
    assert run("search", "--resume", "run", "--allow-python").code == 0
    assert results(folder / "run") == before


def test_operations_in_python_are_allowed_each_time(run: Run, folder: Path) -> None:
    text = 'op shuffle(groups) from "torch.nn:ChannelShuffle"\n' + TINY.replace("max_pool(3)", "shuffle(2)")
    (folder / "tiny.nas").write_text(text)
    assert "error[NAS105]" in run("search", "tiny.nas", *DATA, "-o", "run").err
    assert not (folder / "run").exists()
    assert run("search", "tiny.nas", *DATA, "-o", "run", "--allow-python").code == 0
    assert run("search", "--resume", "run").err == (
        "error[NAS105]: `run` uses Python operations\n = help: add `--allow-python` if you trust it\n\n"
    )
    assert run("search", "--resume", "run", "--allow-python").code == 0


def test_a_recipe_that_is_not_used_is_not_read(run: Run, folder: Path) -> None:
    (folder / "tiny.nas").write_text(TINY)
    (folder / "tiny.toml").write_text("this is not TOML")
    assert "error[NAS601]" in run("search", "tiny.nas", *DATA, "-o", "run").err
    assert run("search", "tiny.nas", "--recipe", "none", *DATA, "-o", "run").code == 0
