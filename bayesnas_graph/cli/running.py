"""A search on the command line: started or resumed, shown while it runs, and summarised."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from bayesnas_graph.cli.target import number
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.runs.config.groups import Samples
    from bayesnas_graph.runs.config.search import SearchConfig
    from bayesnas_graph.runs.manifest import Kind
    from bayesnas_graph.runs.settings import Settings
    from bayesnas_graph.search.events import SearchWatcher


@dataclass(frozen=True)
class Show:
    """How a run is shown."""

    display: Literal["auto", "live", "plain"] = "auto"
    tensorboard: bool = False

    @property
    def live(self) -> bool:
        """Whether to draw a screen: on a terminal that can, unless lines were requested."""
        draws = os.environ.get("TERM") not in ("dumb", "unknown") and sys.stdout.encoding.lower().startswith("utf")
        return self.display != "plain" and sys.stdout.isatty() and draws


def begin(
    file: Path,
    config: SearchConfig,
    data_dir: Path,
    output: Path | None,
    show: Show,
    recipe: Path | None,
    *,
    allow_python: bool,
) -> None:
    """Start a search in a new folder."""
    check_parameters(config)
    _search(file, config=config, data_dir=data_dir, output=output, watch=_watchers(show, recipe), python=allow_python)


def go_on(
    run: Path, file: Path | None, told: Sequence[Settings], data_dir: Path | None, show: Show, *, allow_python: bool
) -> None:
    """Resume a search from its last checkpoint, with its own settings."""
    check_resume("search", run, file, told, allow_python=allow_python)
    _search(resume=run, data_dir=data_dir, watch=_watchers(show), python=allow_python)


def _search(*source: Path, python: bool, **options: Any) -> None:
    from bayesnas_graph import api

    with exit_when_interrupted():
        api.search(*source, allow_python_ops=python, **options)


def _watchers(show: Show, recipe: Path | None = None) -> tuple[SearchWatcher, ...]:
    from bayesnas_graph.cli.search_view import SearchView

    if not show.tensorboard:
        return (SearchView(live=show.live, recipe=recipe),)
    from bayesnas_graph.search.tensorboard import TensorBoard, writer

    return SearchView(live=show.live, recipe=recipe), TensorBoard(None, writer())


def check_parameters(config: Samples) -> None:
    """Raise BadParameter for values of parameters that are not numbers."""
    for value in config.parameters.values():
        number(str(value).lower())


def check_resume(kind: Kind, path: Path, file: Path | None, told: Sequence[Settings], *, allow_python: bool) -> None:
    """Raise NasError for settings, or for another space than that of the run."""
    from bayesnas_graph.runs.opening import open_run
    from bayesnas_graph.runs.subject import load_subject

    run = open_run(path, kind, allow_python=allow_python)
    if told:
        help = "a run keeps the settings it was started with; start another one to change them"
        given = ", ".join(f"`{one.source.text if one.on_command_line else one.source.name}`" for one in told)
        raise NasError([Diagnostic("NAS601", f"`--resume` takes no settings, but got {given}", help=help)])
    if file is not None:
        run.check_same_space(load_subject(file, run.manifest.config, allow_python=allow_python))


@contextmanager
def exit_when_interrupted() -> Iterator[None]:
    """Leave with the exit code of Ctrl-C when a run is interrupted. Watchers have said how to resume it."""
    from bayesnas_graph.runs.loop import Interrupted

    try:
        yield
    except Interrupted:
        raise typer.Exit(130) from None


def resume_hint(verb: str, folder: Path, *, allow_python: bool) -> str:
    """Return the command that resumes a run."""
    allowed = " --allow-python-ops" if allow_python else ""
    return f"bayesnas-graph {verb} --resume {shlex.quote(str(folder))}{allowed}"
