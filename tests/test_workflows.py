"""The workflows of the public repository agree with the Makefile, pyproject.toml and the version."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

import bayesnas_graph
from tests.conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text())["jobs"]
    return found


def matrix(job: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = job.get("strategy", {}).get("matrix", {})
    return found


def commands(path: Path) -> Iterator[str]:
    """The commands of all steps, with the values of the matrix."""
    for job in jobs(path).values():
        for step in job["steps"]:
            if "run" in step:
                lines = [step["run"]]
                for key, values in matrix(job).items():
                    marker = f"${{{{ matrix.{key} }}}}"
                    lines = [line.replace(marker, value) for line in lines for value in values]
                yield from lines


def test_there_are_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "release"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_they_run_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = {found[1] for line in commands(path) for found in re.finditer(r"\bmake (\S+)", line)}
    assert used
    assert used <= targets
    scripts = {word for line in commands(path) for word in line.split() if word.startswith((".ci/", ".github/"))}
    assert [script for script in scripts if not (ROOT / script).is_file()] == []


def test_all_targets_that_judge_a_change_are_run() -> None:
    used = {found[1] for line in commands(WORKFLOWS[0]) for found in re.finditer(r"\bmake (\S+)", line)}
    assert used == {"lint", "test", "test-lowest", "test-newest", "docs"}


def test_the_tests_run_on_all_versions_of_python_that_are_declared() -> None:
    declared = [
        found[1] for line in PROJECT["classifiers"] if (found := re.fullmatch(r"Programming .* (3\.\d+)", line))
    ]
    assert matrix(jobs(WORKFLOWS[0])["test"])["python"] == declared
    assert PROJECT["requires-python"] == f">={declared[0]}"
    set_up = [
        step["with"]["python-version"]
        for path in WORKFLOWS
        for job in jobs(path).values()
        for step in job["steps"]
        if "setup-python" in step.get("uses", "")
    ]
    assert set(set_up) == {"${{ matrix.python }}", declared[0]}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_they_hold_no_secret_and_read_by_default(path: Path) -> None:
    assert "secrets." not in path.read_text()
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}


def test_a_release_is_published_after_its_checks() -> None:
    release = jobs(ROOT / ".github" / "workflows" / "release.yml")
    assert release["publish"]["needs"] == "build"
    assert release["publish"]["permissions"] == {"id-token": "write"}
    checks = " ".join(step.get("run", "") for step in release["build"]["steps"])
    assert checks.index("check_tag") < checks.index("-m build") < checks.index("twine check")


def test_only_the_tag_of_the_version_passes() -> None:
    def check(tag: str) -> int:
        command = [sys.executable, str(ROOT / ".github" / "check_tag.py"), tag]
        return subprocess.run(command, check=False, capture_output=True).returncode

    assert check(f"v{bayesnas_graph.__version__}") == 0
    assert check("v9.9.9") == 1
    assert check(bayesnas_graph.__version__) == 1
