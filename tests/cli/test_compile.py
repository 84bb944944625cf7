"""The commands `compile` and `stats`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_compile(run: Run, here: Path) -> None:
    result = run("compile", "quickstart", "-o", "out")
    assert (result.code, result.err) == (0, "")
    assert sorted(path.name for path in (here / "out").iterdir()) == ["digits.py", "digits.svg", "graph.json"]
    assert "wrote graph.json, digits.py and digits.svg to out\n" in result.out
    source = (here / "out" / "digits.py").read_text()
    scope: dict[str, object] = {"__name__": "digits"}
    exec(source, scope)
    import torch

    network = scope["Digits"]()  # type: ignore[operator]
    assert network(torch.zeros(2, 1, 8, 8)).shape == (2, 10)
    assert json.loads((here / "out" / "graph.json").read_text())["version"] == 4


def test_compile_python_operations(run: Run, here: Path) -> None:
    text = "network n : vector(4) -> classes(2) { in x x -> out : mine > linear(2) }"
    (here / "p.nas").write_text(f'op mine(p = 0.5) from "torch.nn:Dropout" {text}')
    assert "NAS105" in run("compile", "p.nas").err
    assert run("compile", "p.nas", "--allow-python").code == 0
    assert "self.mine = torch.nn.Dropout(p=0.5)" in (here / "n" / "n.py").read_text()


def test_compile_never_mixes_results(run: Run, here: Path) -> None:
    assert run("compile", "lenet5").code == 0
    assert run("compile", "lenet5").code == 0, "the same files"
    other = run("compile", "quickstart", "-o", "lenet5")
    assert other.code == 1
    assert "`lenet5/graph.json` already exists" in other.err
    assert sorted(path.name for path in (here / "lenet5").iterdir()) == ["graph.json", "lenet5.py", "lenet5.svg"]
    (here / "file").write_text("")
    for folder in ("file", "file/below"):
        result = run("compile", "lenet5", "-o", folder)
        assert (result.code, f"cannot write `{folder}/graph.json`: not a directory" in result.err) == (1, True)


def test_compile_options(run: Run, here: Path) -> None:
    plain = run("compile", "quickstart", "--no-fuse", "-o", "plain").out
    merged = run("compile", "quickstart", "--zero", "before", "--mode", "proxyless", "-o", "merged").out
    assert "257 as written, 275 compiled" in plain
    assert "switches     30 (90 in all uses)" in plain
    assert "switches     90 (90 in all uses)" in merged
    wide = run("compile", "quickstart", "-p", "width=16", "-o", "wide").out
    assert "parameters" in wide
    assert wide != merged


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--network", "digit"], 1, "did you mean `digits`?"),
        (["-p", "widht=3"], 1, "did you mean `width`?"),
        (["-p", "width"], 2, "NAME=VALUE"),
        (["-p", "width=x"], 2, "not a number"),
        (["-p", "width=2.5"], 1, "NAS204"),
        (["-p", "width=0"], 1, "NAS205"),
        (["--zero", "between"], 2, "between"),
    ],
)
def test_wrong_requests(run: Run, here: Path, arguments: list[str], code: int, text: str) -> None:
    result = run("compile", "quickstart", *arguments)
    assert result.code == code
    assert text in result.err
    assert list(here.iterdir()) == []


def test_a_file_without_networks(run: Run, here: Path) -> None:
    result = run("compile", "std")
    assert result.code == 1
    assert "no network" in result.err


def test_stats(run: Run) -> None:
    result = run("stats", "nasbench201")
    assert result.code == 0
    for text in ("1.56e4 (15,625)", "24 (360 in all uses)", "1,699,546", "at batch 64"):
        assert text in result.out
    assert "73,306 (smallest found) to 1,531,546 in one architecture" in result.out
    assert "1, a fixed network" in run("stats", "lenet5").out
    assert "one architecture" not in run("stats", "lenet5").out
    assert "125,122 to 176,122 in one architecture" in run("stats", "densenet", "--network", "search").out
    answer = json.loads(run("stats", "darts", "--json", "-p", "cells=4").out)
    assert answer["architectures"] == str(2**196)
    given = {"width": "16", "cells": "4", "stride": "1", "channels": "3", "size": "32", "labels": "10"}
    assert answer["parameters"] == given
    ends = answer["architecture"]["weights"]
    assert ends["largest"] == {"cost": answer["weights"], "proven": True}
    assert 0 < ends["smallest"]["cost"] < answer["weights"] / 100
    assert ends["smallest"]["proven"] is False


def test_stats_loads_no_torch() -> None:
    script = (
        "import sys\n"
        "from bayesnas_graph.cli.main import app\n"
        "try: app(['stats', 'quickstart'])\n"
        "except SystemExit as e: assert not e.code\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
