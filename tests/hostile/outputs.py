"""Every verb that writes a file, as a command line without the name of the file, and a folder to run it in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api

NET = "network net : image(1, 8, 8) -> classes(10) { in x  x -> out : global_avg_pool > linear(10) }\n"
SPACE = """
network net : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : choose { conv(4), conv(4, 1) } > bn > relu > global_avg_pool > linear(10)
}
"""
SHORT: dict[str, Any] = {"data": "shapes", "steps": 2, "warmup": 0, "iterations": 1, "batch": 8}
SHORT_WORDS = ("--data", "shapes", "--steps", "2", "--warmup", "0", "--iterations", "1", "--batch", "8")

# The name of the file follows.
FILES: dict[str, tuple[str, ...]] = {
    "export": ("export", "net.nas", "-o"),
    "export --weights": ("export", "run", "-o", "other.py", "--weights"),
    "export --onnx": ("export", "net.nas", "-o", "other.py", "--onnx"),
    "export --torchscript": ("export", "net.nas", "-o", "other.py", "--torchscript"),
    "export --torch-export": ("export", "net.nas", "-o", "other.py", "--torch-export"),
    "draw": ("draw", "net.nas", "--format", "svg", "-o"),
    "report": ("report", "run", "-o"),
    "new": ("new",),  # writes `NAME.nas`
}
# The name of the folder follows; then the name of a file in it.
FOLDERS: dict[str, tuple[tuple[str, ...], str]] = {
    "compile": (("compile", "net.nas", "-o"), "graph.json"),
    "derive": (("derive", "run", "-o"), "network.nas"),
}
RUNS: dict[str, tuple[str, ...]] = {
    "search": ("search", "space.nas", *SHORT_WORDS, "-o"),
    "sweep": ("search", "space.nas", *SHORT_WORDS, "--seeds", "2", "-o"),
    "train": ("train", "net.nas", "--data", "shapes", "--epochs", "1", "-s", "cutout=0", "-o"),
    "compress": ("compress", "net.nas", "--data", "shapes", "-o"),
}


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a network, a space and a finished search."""
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "net.nas").write_text(NET)
    (folder / "space.nas").write_text(SPACE)
    api.search(folder / "space.nas", output=folder / "run", **SHORT)
    return folder


@pytest.fixture
def folder(searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it, in which the test runs."""
    shutil.copytree(searched, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not list(tmp_path.rglob("*.part")), "no temporary file is left"


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
