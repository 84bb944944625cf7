"""Samples of the data of a search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from torch import Tensor

from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device, find_device
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.search.run import build_problem


def samples_of(path: Path, batches: int, data_dir: Path | None, *, allow_python: bool = False) -> Iterator[Tensor]:
    """Yield batches of a search's training images, augmented as in the search."""
    run = open_run(path, "search", allow_python=allow_python)
    config = run.config
    assert isinstance(config, SearchConfig), "other kinds were refused"
    problem = build_problem(run.subject, config, data_dir or Path(run.manifest.data_dir), Processes())
    device = Device.of(config, find_device("cpu"), Processes())
    for images, _ in islice(problem.batches(device, 0), batches):
        yield images
