"""A search on the command line: begun or gone on with, shown while it runs, and summed up in the end."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from bayesnas_graph.cli.console import labelled, say, show_diagnostics
from bayesnas_graph.cli.target import load_with_files, number
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.runs.config import Config, Samples
    from bayesnas_graph.runs.device import Place
    from bayesnas_graph.runs.paths import RunPaths
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.runs.subject import Subject
    from bayesnas_graph.search.events import Watcher
    from bayesnas_graph.search.loop import Outcome
    from bayesnas_graph.search.run import Task


@dataclass(frozen=True)
class Show:
    """How a search is shown."""

    display: Literal["auto", "live", "plain"] = "auto"
    tensorboard: bool = False

    @property
    def live(self) -> bool:
        """Whether there is a screen: where nobody asked for lines, on a terminal that can draw one."""
        draws = os.environ.get("TERM") not in ("dumb", "unknown") and sys.stdout.encoding.lower().startswith("utf")
        return self.display != "plain" and sys.stdout.isatty() and draws


def begin(
    file: Path,
    config: Config,
    data_dir: Path,
    output: Path | None,
    show: Show,
    recipe: Path | None,
    *,
    allow_python: bool,
) -> None:
    """Begin a run in a new folder."""
    from bayesnas_graph.runs.device import prepared
    from bayesnas_graph.search.run import begun

    subject = subject_of(file, str(file), config, allow_python=allow_python)
    with prepared(config) as place:
        task = begun(subject, config, data_dir, output, file.stem, place)
        if place.processes.first:
            warning = task.problem.nothing_to_decide
            show_diagnostics([] if warning is None else [warning])
            if recipe is not None:
                typer.echo(f"settings from {recipe.name}")
        _run(task, place, show)


def go_on(
    run: Path, file: Path | None, told: Sequence[Settings], data_dir: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Go on with a run, from its last checkpoint, under the settings that it began with."""
    from bayesnas_graph.runs.device import prepared
    from bayesnas_graph.runs.folder import RunFolder
    from bayesnas_graph.runs.subject import check_same_space, copy_of
    from bayesnas_graph.search.run import Task, posed

    folder = RunFolder(run)
    manifest = folder.manifest()
    no_settings(told)
    config = manifest.config
    if file is not None:
        check_same_space(subject_of(file, str(file), config, allow_python=allow_python), manifest, folder)
    subject = copy_of(folder, manifest, config, allow_python=allow_python)
    with prepared(config, manifest.threads) as place:
        data_dir = data_dir or Path(manifest.data_dir)
        _run(Task(subject, posed(subject, config, data_dir, place.processes), data_dir, folder), place, show)


def no_settings(told: Sequence[Settings]) -> None:
    """Raise NasError if a run that goes on is told anything."""
    if told:
        help = "a run goes on under the settings it began with; begin another one for others"
        given = ", ".join(f"`{one.source.text if one.on_command_line else one.source.name}`" for one in told)
        raise NasError([Diagnostic("NAS601", f"`--resume` takes no settings, and there is {given}", help=help)])


def subject_of(file: Path, name: str, config: Samples, *, called: str | None = None, allow_python: bool) -> Subject:
    """The network of a run, with the files of the user's that it came from."""
    from bayesnas_graph.runs.subject import Subject

    overrides = {key: number(str(value).lower()) for key, value in config.parameters.items()}
    loaded = load_with_files(file, config.network, overrides, called=called, allow_python=allow_python)
    return Subject.of(loaded, name, allow_python=allow_python)


def _run(task: Task, place: Place, show: Show) -> None:
    from bayesnas_graph.runs.device import only_here
    from bayesnas_graph.search.run import go

    stopped = stoppable("search", task.subject, task.folder, place)
    with stopped, only_here(task.folder, place), _watching(task, place, show) as watchers:
        outcome = go(task, place, watchers)
    if place.processes.first:
        _sum_up(task, outcome)


@contextmanager
def stoppable(verb: str, subject: Subject, folder: RunPaths, place: Place) -> Iterator[None]:
    """Where a run is stopped, say how to go on, and leave."""
    from bayesnas_graph.search.loop import Interrupted

    try:
        yield
    except Interrupted as stopped:
        if place.processes.first:
            typer.echo(f"stopped after step {stopped.step}; go on with")
            allowed = " --allow-python-ops" if subject.python_ops else ""
            typer.echo(f"  bayesnas-graph {verb} --resume {shlex.quote(str(folder.path))}{allowed}")
        raise typer.Exit(130) from None


@contextmanager
def _watching(task: Task, place: Place, show: Show) -> Iterator[tuple[Watcher, ...]]:
    """Those who tell of a search: on a terminal a screen, elsewhere lines."""
    from bayesnas_graph.cli.watch import Display, Lines, Reporter

    if not place.processes.first:
        yield ()
        return
    with ExitStack() as stack:
        events: tuple[Watcher, ...] = ()
        if show.tensorboard:
            from bayesnas_graph.search.tensorboard import TensorBoard, writer

            events = (stack.enter_context(closing(TensorBoard(task.folder.tensorboard, writer()))),)
        say(labelled("run", str(task.folder.path)))
        display: Display = Lines()
        if show.live:
            from bayesnas_graph.cli.live import Screen

            display = stack.enter_context(Screen(str(task.folder.path)))
        yield (Reporter(task.folder, task.subject.name, display), *events)


def _sum_up(task: Task, outcome: Outcome) -> None:
    """What came out, choice by choice, and where it was written."""
    from bayesnas_graph.cli.outcome import outcome_lines, too_large, unmet
    from bayesnas_graph.runs.reading.outline import Outline

    folder, result = task.folder, json.loads(task.folder.result.read_bytes())
    missed = unmet(result, task.config.to_plain())
    for line in outcome_lines(Outline.from_json(folder.outline.read_bytes()), outcome, missed):
        say(line)
    warning = too_large(result, missed, task.config)
    if warning is not None:
        show_diagnostics([warning])
    for path in (folder.decision, folder.architecture, folder.result, folder.metrics, folder.updates, folder.history):
        say(f"wrote {path}")
    say("look at it with")
    say(f"  bayesnas-graph report {shlex.quote(str(folder.path))}")
    say("make a network of it with")
    say(f"  bayesnas-graph derive {shlex.quote(str(folder.path))}")
