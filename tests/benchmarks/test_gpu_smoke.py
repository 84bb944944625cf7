"""The script for a GPU runs on a CPU too, and says what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks import gpu_smoke


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_it_runs_without_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = gpu_smoke.report(torch.device("cpu"), 2, 2, tiny=True)
    assert "failed" not in found, found
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines() if line[:1] == "|"]
    by_name = {row[0]: row for row in rows}
    for form in gpu_smoke.FORMS:
        is_skipped = form.compile or form.precision == "fp16"
        assert (gpu_smoke.SKIPPED in by_name[str(form)]) is is_skipped
        assert bool(by_name[str(form)][1]) is not is_skipped
    assert by_name["bf16, compile"][-1] == by_name["fp16"][-1] == gpu_smoke.SKIPPED
    assert float(by_name["fp32"][2]) > 0


def test_a_part_that_fails_is_noted() -> None:
    with gpu_smoke.noted("fine") as note:
        raise RuntimeError("no kernel image is available\nfor this device")
    assert note == ["failed: RuntimeError: no kernel image is available"]
    with gpu_smoke.noted("fine") as note:
        pass
    assert note == ["fine"]
