"""A training on the command line: begun or gone on with, shown while it runs, and summed up in the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.cli.console import labelled, say
from bayesnas_graph.cli.fixed import network_of
from bayesnas_graph.cli.running import Show, no_settings, stoppable, subject_of

if TYPE_CHECKING:
    from bayesnas_graph.runs.device import Place
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.train.config import TrainConfig
    from bayesnas_graph.train.events import Watcher
    from bayesnas_graph.train.loop import Outcome
    from bayesnas_graph.train.run import Task


def begin(
    file: Path, config: TrainConfig, data_dir: Path, output: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Begin a training in a new folder."""
    from bayesnas_graph.runs.device import prepared
    from bayesnas_graph.train.run import begun

    subject, config = network_of(file, config, allow_python=allow_python)
    with prepared(config) as place:
        _run(begun(subject, config, data_dir, output, f"{file.stem}-train", place), place, show)


def go_on(
    run: Path, file: Path | None, told: Sequence[Settings], data_dir: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Go on with a training, from its last checkpoint, under the settings that it began with."""
    from bayesnas_graph.runs.device import prepared
    from bayesnas_graph.runs.subject import check_same_space, copy_of
    from bayesnas_graph.train.folder import TrainFolder
    from bayesnas_graph.train.run import Task, posed

    folder = TrainFolder(run)
    manifest = folder.training()
    no_settings(told)
    config = manifest.config
    if file is not None:
        check_same_space(subject_of(file, str(file), config, allow_python=allow_python), manifest, folder)
    subject = copy_of(folder, manifest, config, allow_python=allow_python)
    with prepared(config, manifest.threads) as place:
        data_dir = data_dir or Path(manifest.data_dir)
        _run(Task(subject, posed(subject, config, data_dir, place.processes), data_dir, folder), place, show)


def _run(task: Task, place: Place, show: Show) -> None:
    from bayesnas_graph.runs.device import only_here
    from bayesnas_graph.train.run import go

    stopped = stoppable("train", task.subject, task.folder, place)
    with stopped, only_here(task.folder, place), _watching(task, place, show) as watchers:
        outcome = go(task, place, watchers)
    if place.processes.first:
        _sum_up(task, outcome)


@contextmanager
def _watching(task: Task, place: Place, show: Show) -> Iterator[tuple[Watcher, ...]]:
    """Who tells of a training: on a terminal with a bar, elsewhere in lines."""
    from bayesnas_graph.cli.epochs import Bar, Lines

    if not place.processes.first:
        yield ()
        return
    say(labelled("run", str(task.folder.path)))
    device = f"{place.device}{f', {place.processes.world} processes' if place.processes.world > 1 else ''}"
    if not show.live:
        yield (Lines(task.subject, device),)
        return
    with Bar(task.subject, device) as bar:
        yield (bar,)


def _sum_up(task: Task, outcome: Outcome) -> None:
    folder = task.folder
    say("")
    mean = ", with the running mean of the weights" if task.config.ema else ""
    say(labelled("accuracy", f"{outcome.score.accuracy:.4f} on the test set{mean}"))
    say(labelled("loss", f"{outcome.score.loss:.4f}"))
    for path in (folder.source, folder.weights, folder.result, folder.metrics):
        say(f"wrote {path}")
    say("measure it with")
    say(f"  bayesnas-graph eval {shlex.quote(str(folder.path))}")
