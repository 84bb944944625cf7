"""Functions of the API leave the process as they found it."""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.process_state import CUBLAS, process_state_kept
from bayesnas_graph.search.events import SearchWatcher, StepRow
from tests.search.spaces import SHORT, TINY

SETTINGS: dict[str, Any] = {key: value for key, value in SHORT.items() if key not in ("lambda", "threads", "data")}
TINY_DATA: dict[str, Any] = {"data": "tests.search.spaces:tiny_data", "allow_python": True}
SMALL = SETTINGS | TINY_DATA | {"iterations": 1, "steps": 2, "warmup": 1, "finish": 1, "curvature_batches": 1}


SET_BY_TORCH = {"TORCHINDUCTOR_CACHE_DIR"}  # when its compiler is loaded, in whatever way


def process_state() -> dict[str, Any]:
    """Everything global that a library has no business to change."""
    return {
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "cudnn": (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic, torch.backends.cudnn.enabled),
        "dtype": torch.get_default_dtype(),
        "gradients": torch.is_grad_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "torch": torch.random.get_rng_state().tolist(),
        "python": random.getstate(),
        "numpy": [str(part) for part in np.random.get_state()],
        "signals": {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)},
        "recursion": sys.getrecursionlimit(),
        "collects": gc.isenabled(),
        "filters": list(warnings.filters),
        "folder": Path.cwd(),
        "path": list(sys.path),
        "environment": {name: value for name, value in os.environ.items() if name not in SET_BY_TORCH},
    }


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is set up unlike a run would."""
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)
    monkeypatch.delenv(CUBLAS, raising=False)


class Fails(SearchWatcher):
    """A watcher with a bug."""

    def logged(self, row: StepRow) -> None:
        raise ZeroDivisionError


@pytest.mark.usefixtures("odd")
def test_a_search_and_all_that_follows_change_nothing(tmp_path: Path) -> None:
    before = process_state()
    threads = torch.get_num_threads() + 1
    found = api.search(api.Text(TINY), output=tmp_path / "run", threads=threads, **SMALL)
    assert process_state() == before
    architecture = api.derive(found)
    api.train(architecture, output=tmp_path / "train", **TINY_DATA, epochs=1, cutout=4, threads=threads)
    assert process_state() == before
    api.evaluate(tmp_path / "train", runs=1, threads=threads, allow_python=True)
    api.export(architecture, weights=tmp_path / "weights.safetensors").build()
    api.sample(api.Text(TINY), 3)
    assert process_state() == before


@pytest.mark.usefixtures("odd")
def test_a_search_that_fails_changes_nothing(tmp_path: Path) -> None:
    before = process_state()
    with pytest.raises(ZeroDivisionError):
        api.search(api.Text(TINY), output=tmp_path / "run", threads=3, watch=(Fails(),), **SMALL)
    assert process_state() == before
    with pytest.raises(NasError):
        api.search(api.Text(TINY), output=tmp_path / "other", threads=3, **SMALL | {"data": "no.such.module:data"})
    assert process_state() == before


def test_whatever_a_run_sets_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CUBLAS, ":16:8")
    before = process_state()
    with process_state_kept():
        torch.set_num_threads(before["threads"] + 1)
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        os.environ[CUBLAS] = ":4096:8"
        torch.manual_seed(5)
        random.seed(5)
        np.random.seed(5)
        warnings.simplefilter("ignore")
        assert not {name for name, value in process_state().items() if value != before[name]} ^ {
            "threads", "deterministic", "cudnn", "environment", "torch", "python", "numpy", "filters",
        }  # fmt: skip
    assert process_state() == before


def test_results_depend_on_settings_and_not_on_the_process(tmp_path: Path) -> None:
    found = []
    for i in range(2):
        torch.manual_seed(i)
        random.seed(i)
        result = api.search(api.Text(TINY), output=tmp_path / f"run{i}", threads=1, **SMALL)
        rows = (result.path / "metrics.csv").read_text().splitlines()
        found.append([row.split(",")[:6] for row in rows])  # without times
    assert found[0] == found[1]
