"""Samples of the data of a search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from torch import Tensor

from bayesnas_graph.runs.device import Device, find_device
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.searched import search_manifest
from bayesnas_graph.search.run import build_problem


def samples_of(path: Path, batches: int, data_dir: Path | None, *, allow_python: bool = False) -> Iterator[Tensor]:
    """Yield batches of a search's training images, augmented as in the search."""
    run = open_run(path, allow_python=allow_python)
    manifest = search_manifest(run)
    problem = build_problem(run.subject, manifest.config, data_dir or Path(manifest.data_dir), Processes())
    device = Device.of(manifest.config, find_device("cpu"), Processes())
    for images, _ in islice(problem.batches(device, 0), batches):
        yield images
