"""An installed package with plug-ins: a module and a `.dist-info` folder on `sys.path`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest


def install(
    folder: Path,
    patch: pytest.MonkeyPatch,
    package: str,
    source: str,
    entry_points: Mapping[str, Mapping[str, str]],
) -> None:
    """Install a package of one module; entry points by group and name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{package}.py").write_text(source)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [
        line
        for group, entries in entry_points.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    if str(folder) not in sys.path:
        patch.syspath_prepend(folder)
    patch.setitem(sys.modules, package, sys)  # so that it is forgotten after the test
    del sys.modules[package]
