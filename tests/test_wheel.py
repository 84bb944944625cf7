"""The built wheel works without the checkout."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, SPACES


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The console script of an environment that holds the wheel alone.

    Dependencies are lent from the environment of the tests: its folder is put at the end of the path,
    where the link to the checkout that it also holds has no effect.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return [str(folder / "bin" / "bayesnas-graph")]


def run(program: list[str], *arguments: str, cwd: Path) -> str:
    """What a program of the environment prints. A `PYTHONPATH` of whoever runs the tests might lead to the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [*program, *arguments]
    return subprocess.run(command, check=True, cwd=cwd, env=environment, capture_output=True, text=True).stdout


def test_the_wheel_is_what_runs(program: list[str], tmp_path: Path) -> None:
    python = Path(program[0]).parent / "python"
    code = "import bayesnas_graph; print(bayesnas_graph.__file__)"
    where = run([str(python)], "-c", code, cwd=tmp_path)
    assert str(ROOT / "bayesnas_graph") not in where


def test_the_wheel_finds_grammar_spaces_and_pages(program: list[str], tmp_path: Path) -> None:
    assert "<shipped>/darts.nas: ok, network search" in run(program, "check", "darts", cwd=tmp_path)
    listed = run(program, "spaces", cwd=tmp_path)
    assert all(path.stem in listed for path in SPACES)
    assert run(program, "explain", "NAS201", cwd=tmp_path).startswith("# NAS201")
    assert "sep_conv" in run(program, "ops", cwd=tmp_path)
    shown = run(program, "search", "darts", "--recipe", "paper", "--settings", cwd=tmp_path)
    assert shown.startswith("settings from darts.paper.toml\n")
    run(program, "new", "mine", cwd=tmp_path)
    assert "mine.nas: ok" in run(program, "check", "mine.nas", cwd=tmp_path)


def test_the_wheel_holds_the_whole_package(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "bayesnas_graph").rglob("*.py")}
    assert sources <= inside
    assert "bayesnas_graph/py.typed" in inside
    assert {f"bayesnas_graph/spaces/{path.name}" for path in (ROOT / "spaces").iterdir()} <= inside
    assert not [name for name in inside if name.startswith(("tests/", "benchmarks/", "docs/"))]


def test_a_script_that_uses_the_wheel_passes_a_strict_type_checker(
    program: list[str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    # A copy, because mypy would find the checkout around the script.
    shutil.copy(ROOT / "tests" / "typing" / "user_script.py", tmp_path)
    assert mypy(program, tmp_path / "user_script.py", request).startswith("Success")
    (tmp_path / "wrong.py").write_text("from bayesnas_graph import api\nname: int = api.load('lenet5').name\n")
    assert 'expression has type "str"' in mypy(program, tmp_path / "wrong.py", request)


@pytest.mark.long
def test_the_first_example_of_the_api_runs(program: list[str], tmp_path: Path) -> None:
    """The search is a short one here."""
    page = (ROOT / "docs" / "api.md").read_text()
    example = page.partition("```python\n")[2].partition("```")[0]
    short = 'output="run", iterations=1, steps=4, warmup=4, finish=4, threads=1'
    assert example.count('output="run"') == 1
    (tmp_path / "example.py").write_text(example.replace('output="run"', short))
    accuracy, architectures = run([str(Path(program[0]).parent / "python")], "example.py", cwd=tmp_path).split()
    assert 0 <= float(accuracy) <= 1
    assert int(architectures) == 2**24
    code = "import torch, digits; print(sum(one.numel() for one in digits.Digits().parameters()) > 0)"
    assert run([sys.executable], "-c", code, cwd=tmp_path) == "True\n"
    assert (tmp_path / "digits.safetensors").is_file()


def mypy(program: list[str], script: Path, request: pytest.FixtureRequest) -> str:
    """What mypy prints on a script in the environment of the wheel. It reads no settings of this project."""
    cache = request.config.cache.mkdir("mypy-wheel")
    python = str(Path(program[0]).parent / "python")
    options = ["--strict", "--config-file", "", "--python-executable", python, "--cache-dir", str(cache)]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    command = [sys.executable, "-m", "mypy", *options, str(script)]
    done = subprocess.run(command, cwd=script.parent, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_every_import_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    tools = ("dev", "docs", "test")
    extras = [one for name, some in project["optional-dependencies"].items() if name not in tools for one in some]
    names = {requirement.split(">")[0].split("[")[0] for requirement in (*project["dependencies"], *extras)}
    declared = {
        {"scikit-learn": "sklearn", "pillow": "PIL", "vl-convert-python": "vl_convert"}.get(name, name)
        for name in names
    }
    imported: set[str] = set()
    for path in (ROOT / "bayesnas_graph").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    assert imported - set(sys.stdlib_module_names) - {"bayesnas_graph"} <= declared
