"""The hooks that other repositories can use with pre-commit."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS = dict(re.findall(r"^- id: (\S+)\n(?:  .*\n)*?  entry: (.*)\n", MANIFEST.read_text(), re.MULTILINE))


def hook(name: str, folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """Run a hook on files, as pre-commit does."""
    program, *words = shlex.split(HOOKS[name])
    assert program == "bayesnas-graph"
    command = [sys.executable, "-m", "bayesnas_graph", *words, *files]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_manifest_is_valid() -> None:
    pytest.importorskip("pre_commit")
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]
    subprocess.run(command, check=True)
    assert sorted(HOOKS) == ["bayesnas-graph-check", "bayesnas-graph-fmt"]
    assert MANIFEST.read_text().count(r"files: \.nas$") == 2


def test_the_hooks_check_and_format(tmp_path: Path) -> None:
    (tmp_path / "good.nas").write_text("let  a = 1\n")
    (tmp_path / "bad.nas").write_text("let b = c\n")
    assert hook("bayesnas-graph-check", tmp_path, "good.nas").returncode == 0
    checked = hook("bayesnas-graph-check", tmp_path, "good.nas", "bad.nas")
    assert checked.returncode == 1
    assert "error[NAS101]: unknown name `c`" in checked.stderr
    assert hook("bayesnas-graph-fmt", tmp_path, "good.nas", "bad.nas").returncode == 0
    assert (tmp_path / "good.nas").read_text() == "let a = 1\n"
    assert hook("bayesnas-graph-fmt", tmp_path, "good.nas").stdout == ""
