"""A compression on the command line: begun or gone on with, shown while it runs, and summed up in the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.cli.compressed import summary
from bayesnas_graph.cli.console import labelled, note, say
from bayesnas_graph.cli.running import Show, no_settings, stoppable
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.runs.device import Place
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.train.compress.events import Watcher
    from bayesnas_graph.train.compress.run import Outcome, Task


def begin(
    target: Path,
    told: Sequence[Settings],
    weights: Path | None,
    data_dir: Path | None,
    output: Path | None,
    show: Show,
    *,
    allow_python: bool,
) -> None:
    """Begin a compression in a new folder."""
    from bayesnas_graph.runs.device import only_here, prepared
    from bayesnas_graph.train.compress.run import begun
    from bayesnas_graph.train.compress.source import configured

    start, config = configured(target, told, weights, allow_python=allow_python)
    with prepared(config) as place:
        where = data_dir or start.data_dir or Path("data")
        name = f"{target.stem}-compress"
        task = begun(start.subject, config, where, output, name, place, start.weights)
        with only_here(task.folder, place):
            _run(task, place, show)


def go_on(
    run: Path, target: Path | None, told: Sequence[Settings], data_dir: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Go on with a compression, from its last checkpoint, under the settings that it began with."""
    from bayesnas_graph.train.compress.run import task_of

    no_settings(told)
    if target is not None:
        help = "leave the network away: the run has its own copy"
        raise NasError([Diagnostic("NAS601", f"`--resume` takes no network, and there is `{target}`", help=help)])
    with task_of(run, data_dir, allow_python=allow_python) as (task, place):
        _run(task, place, show)


def _run(task: Task, place: Place, show: Show) -> None:
    from bayesnas_graph.train.compress.run import go

    with stoppable("compress", task.subject, task.folder, place), _watching(task, place, show) as watchers:
        outcome = go(task, place, watchers)
    if place.processes.first:
        _sum_up(task, outcome)


@contextmanager
def _watching(task: Task, place: Place, show: Show) -> Iterator[tuple[Watcher, ...]]:
    """Who tells of a compression: on a terminal with a bar, elsewhere in lines."""
    from bayesnas_graph.cli.stages import StageBar, StageLines

    if not place.processes.first:
        yield ()
        return
    say(labelled("run", str(task.folder.path)))
    device = f"{place.device}{f', {place.processes.world} processes' if place.processes.world > 1 else ''}"
    if not show.live:
        yield (StageLines(task.subject, device),)
        return
    with StageBar(task.subject, device) as bar:
        yield (bar,)


def _sum_up(task: Task, outcome: Outcome) -> None:
    folder = task.folder
    say("")
    for line in summary(outcome):
        say(line)
    if not outcome.on_target:
        say("")
        say(note("it is larger than was asked for: set `lambda`, `tolerance` or `loops` to more"))
    say("")
    for path in (folder.network, folder.source, folder.weights, folder.layers, folder.result):
        say(f"wrote {path}")
    say("measure it with")
    say(f"  bayesnas-graph eval {shlex.quote(str(folder.path))}")
