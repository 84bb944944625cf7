"""Options shared by the verbs that create runs: `search`, `train` and `compress`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import typer

from bayesnas_graph.cli.network_options import AllowPython, check_parameters
from bayesnas_graph.cli.options import DataDir
from bayesnas_graph.cli.settings_list import show_settings
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.config.groups import RUN, DataSettings
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.settings import Settings, merged
from bayesnas_graph.runs.subject import load_subject

C = TypeVar("C", bound=DataSettings)

Loggers = Annotated[
    list[str] | None,
    typer.Option(
        "--logger",
        metavar="NAME",
        help="Also log to tensorboard, wandb or mlflow; may be repeated.",
        rich_help_panel=RUN,
    ),
]


@dataclass(frozen=True)
class RunOptions:
    """The folder and display of a run, and whether it is resumed."""

    data_dir: DataDir = None
    list_settings: Annotated[bool, typer.Option("--settings", help="List all settings with their values and exit.")] = (
        False
    )
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="New folder for the run.", rich_help_panel=RUN)
    ] = None
    resume: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Resume a run from its last checkpoint.", rich_help_panel=RUN)
    ] = None
    display: Annotated[
        Literal["auto", "live", "plain"],
        typer.Option(help="Live display on a terminal, or plain lines.", rich_help_panel=RUN),
    ] = "auto"
    allow_python: AllowPython = False

    @property
    def live(self) -> bool:
        """Whether to use a live display: on a terminal that can show it, unless plain lines were requested."""
        if self.display == "plain" or not sys.stdout.isatty():
            return False
        return os.environ.get("TERM") not in ("dumb", "unknown") and sys.stdout.encoding.lower().startswith("utf")

    def check(self, *, new_only: bool = False) -> None:
        """Raise BadParameter if a resumed run has options for new runs; `new_only` is true if the verb has more."""
        if self.resume is not None and (self.output is not None or self.list_settings or new_only):
            raise typer.BadParameter("a resumed run keeps its folder and its settings", param_hint="--resume")

    def config(self, verb: Kind, kind: type[C], file: Path | None, settings: Sequence[Settings]) -> C | None:
        """Return the settings of a new run, or None for a resumed run, which has its own. Raises NasError."""
        if self.resume is not None:
            self._check_resume(verb, self.resume, file, settings)
            return None
        config = merged(settings, kind, allow_python=self.allow_python)
        if self.list_settings:
            show_settings(config, settings)
            raise typer.Exit
        if file is None:
            raise typer.BadParameter("pass a network, or a run with `--resume`", param_hint="FILE")
        check_parameters(config)
        return config

    def _check_resume(self, verb: Kind, path: Path, file: Path | None, settings: Sequence[Settings]) -> None:
        """Raise NasError if the run cannot be resumed, or if settings or a different space are given."""
        run = open_run(path, verb, allow_python=self.allow_python)
        if settings:
            help = "a run keeps the settings it was started with; start another one to change them"
            texts = ", ".join(f"`{one.source.text if one.on_command_line else one.source.name}`" for one in settings)
            raise NasError([Diagnostic("NAS601", f"`--resume` takes no settings, but got {texts}", help=help)])
        if file is not None:
            run.check_same_space(load_subject(file, run.manifest.config, allow_python=self.allow_python))


@contextmanager
def exit_when_interrupted() -> Iterator[None]:
    """Exit with the code of Ctrl-C when a run is interrupted. Its display has printed how to resume it."""
    from bayesnas_graph.runs.loop import Interrupted  # loads torch

    try:
        yield
    except Interrupted:
        raise typer.Exit(130) from None
