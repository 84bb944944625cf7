"""Batches are computed in as few parts as fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.memory import memory_text, parse_memory
from bayesnas_graph.passes.analysis import StepMemory, step_memory
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.memory import check_step, divided
from bayesnas_graph.runs.processes import Processes
from tests.cli.conftest import Run, run
from tests.helpers import network

__all__ = ["run"]

TEXT = """
network net : image(1, 8, 8) -> classes(10) {
    in x
    node y = x : conv(8) > bn > relu > choose { a = conv(8) > bn, b = identity }
    y -> out : global_avg_pool > linear(10)
}
"""
NETWORK = network(TEXT)
HERE = Device(torch.device("cpu"))


def memory(batch: int = 64) -> StepMemory:
    graph = passes.run(NETWORK.graph(), (*passes.SWITCHES, *passes.FASTER), passes.Options(batch=batch))
    return step_memory(graph)


def config(**settings: Any) -> SearchConfig:
    return SearchConfig(**{"batch": 64, "data": "digits", **settings})


@pytest.mark.parametrize("parts", [1, 2, 4, 64])
def test_as_few_parts_as_fit(parts: int) -> None:
    need = memory().training(64, 1, parts)
    found, notes = divided(NETWORK, config(memory_limit=f"{need}B"), HERE)
    assert found.accumulate == parts
    check_step(NETWORK, found, HERE)
    whole = memory_text(memory().training(64))
    text = f"a batch of 64 needs {whole}: computed in {parts} parts, each with its own batch-norm statistics"
    assert notes == ((text,) if parts > 1 else ())


def test_nothing_fits() -> None:
    need = memory().training(64, 1, 64)
    with pytest.raises(NasError, match=r"NAS407: training network `net` on a single sample needs .* `memory_limit` is"):
        divided(NETWORK, config(memory_limit=f"{need - 1}B"), HERE)


def test_what_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit, a tenth is left free; a limit above what is available does not count."""
    need = memory().training(64, 1, 2)
    monkeypatch.setattr("bayesnas_graph.runs.memory.available_memory", lambda: round(1.1 * need) + 1)
    assert divided(NETWORK, config(), HERE)[0].accumulate == 2
    assert divided(NETWORK, config(memory_limit="1TiB"), HERE)[0].accumulate == 2
    with pytest.raises(NasError, match=r"NAS601: training network `net` on a batch of 64 needs .* are available"):
        check_step(NETWORK, config(), HERE)
    monkeypatch.setattr("bayesnas_graph.runs.memory.available_memory", lambda: need)
    assert divided(NETWORK, config(), HERE)[0].accumulate == 4
    monkeypatch.setattr("bayesnas_graph.runs.memory.available_memory", lambda: None)
    assert divided(NETWORK, config(), HERE)[0].accumulate == 1


def test_parts_of_the_settings_and_of_processes() -> None:
    limit = f"{memory().training(64, 1, 2)}B"
    assert divided(NETWORK, config(memory_limit=limit, accumulate=8), HERE)[0].accumulate == 8
    half = Device(torch.device("cpu"), processes=Processes(0, 1))
    assert divided(NETWORK, config(memory_limit=limit, batch=60), half)[0].accumulate == 2
    optimiser = config(memory_limit=f"{memory().training(64)}B", optimiser="adamw")
    assert divided(NETWORK, optimiser, HERE)[0].accumulate == 2


@pytest.mark.parametrize("text", ["", "4", "GiB", "-1GiB", "1e3MiB", "0MiB", "4 gib", "4XiB", "9" * 40 + "B"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="should be a size such as `512MiB` or `4GiB`"):
        parse_memory(text)


def test_a_resumed_run_has_the_same_parts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.nas").write_text(TEXT)
    short = ("--iterations", "1", "--steps", "2", "--warmup", "1", "-s", "finish=1", "-o", "run")
    found = run("search", "net.nas", "--data", "digits", *short, "--memory-limit", "400KiB")
    assert (found.code, found.err) == (0, "")
    manifest = RunFolder(Path("run")).manifest_file.read_text()
    parts = divided(NETWORK, config(memory_limit="400KiB"), HERE)[0].accumulate
    assert parts > 1
    assert f"computed in {parts} parts" in found.out
    assert f'"accumulate": {parts}' in manifest
    again = run("search", "--resume", "run")
    assert again.code == 0
    assert "computed in" not in again.out
