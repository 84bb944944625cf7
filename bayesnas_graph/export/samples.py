"""Samples of the data that a search was made on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from torch import Tensor

from bayesnas_graph.derive.runs import read_run
from bayesnas_graph.runs.device import Place, find_device
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.search.run import posed


def samples_of(run: Path, batches: int, data_dir: Path | None, *, allow_python: bool = False) -> Iterator[Tensor]:
    """So many batches of the images that the weights of a search were trained on, as they were augmented."""
    searched = read_run(run, allow_python=allow_python)
    config, manifest = searched.manifest.config, searched.manifest
    subject = Subject(manifest.space, manifest.called, searched.network, (), allow_python)
    problem = posed(subject, config, data_dir or Path(manifest.data_dir), Processes())
    place = Place.of(config, find_device("cpu"), Processes())
    for images, _ in islice(problem.batches(place, 0), batches):
        yield images
