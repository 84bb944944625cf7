"""Multiply-adds that cannot be counted are reported as a lower bound by every command that prints them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.search.spaces import SHORT

SPACE = """op mixed(width) from "tests.ir.ops.user_modules:Fourier"

network net : image(1, 8, 8) -> classes(10) {
    in x
    node stem = x : conv(4) > bn > relu
    stem -> out : choose { mixed(4), conv() } > bn > relu > global_avg_pool > linear(10)
    require flops < 1M
}
"""
FIXED = SPACE.replace("choose { mixed(4), conv() }", "mixed(4)")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("space.nas").write_text(SPACE)
    Path("fixed.nas").write_text(FIXED)


def test_check(run: Run) -> None:
    result = run("check", "--allow-python", "space.nas")
    assert result.code == 0
    assert "warning[NAS108]: the multiply-adds of `mixed` cannot be counted" in result.out + result.err
    assert "also for `require flops`" in result.out + result.err


def test_stats(run: Run) -> None:
    space, fixed = (run("stats", "--allow-python", name).out for name in ("space.nas", "fixed.nas"))
    assert "multiply-adds  at least 12,584 per sample with all candidates" in space
    assert "multiply-adds  at least 3,368 to 12,584 per sample in one architecture" in space
    assert "multiply-adds  at least 3,368 per sample\n" in fixed
    assert json.loads(run("stats", "--allow-python", "--json", "fixed.nas").out)["flops_at_least"] is True


def test_eval(run: Run) -> None:
    assert "at least 3,368 per sample" in run("eval", "--allow-python", "--runs", 1, "fixed.nas").out


def test_a_search_and_what_follows(run: Run) -> None:
    words = [word for key, value in SHORT.items() for word in ("-s", f"{key}={json.dumps(value)}")]
    found = run("search", "space.nas", "-o", "run", "--allow-python", "--display", "plain", *words)
    assert found.code == 0, found.err
    assert "at least 12,584 per sample with all candidates" in found.out
    assert "of at least 12,584" in run("status", "run").out
    derived = run("derive", "run", "--keep-per-edge", 2, "--allow-python").out
    assert "at least 12,584 multiply-adds" in derived
    assert "at least 12,584 multiply-adds" in Path("run/derived/network.nas").read_text()
    assert run("report", "run", "-o", "page.html", "--allow-python").code == 0
    assert "of at least 12,584" in Path("page.html").read_text()
