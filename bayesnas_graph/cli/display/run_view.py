"""The display of any run: its folder, how to resume it, and the files it wrote."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from bayesnas_graph.cli.console import hint, labelled, resume_command, say, show_diagnostics, written
from bayesnas_graph.cli.terminal import dim
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.runs.consent import settings_name_code
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.task import Task
from bayesnas_graph.runs.watching import Watcher


@dataclass
class RunView(Watcher):
    """A watcher that shows a run."""

    verb: ClassVar[Kind]

    live: bool = False  # whether to use a live display

    def warned(self, diagnostics: Sequence[Diagnostic]) -> None:
        show_diagnostics(diagnostics)

    def opened(self, task: Task[Any, Any], _device: Device) -> None:
        say(labelled("run", dim(str(task.folder.path))))
        for text in task.notes:
            say(labelled("memory", text))
        for text in task.changes:
            say(labelled("settings", text))

    def interrupted(self, task: Task[Any, Any], step: int) -> None:
        command = resume_command(self.verb, task.folder.path, allow_python=needs_python(task))
        hint(f"stopped after step {step}; resume", command)


def needs_python(task: Task[Any, Any]) -> bool:
    """Return whether a verb that uses the run again has to be allowed to import Python code."""
    return bool(task.subject.python_ops) or settings_name_code(dict(task.config))


def show_written(task: Task[Any, Any], *paths: Path, next_steps: dict[str, str]) -> None:
    """Show which files were written, and verbs to continue with."""
    for line in written(paths):
        say(line, 2)
    for purpose, verb in next_steps.items():
        reads_data = verb == "eval"
        allowed = " --allow-python" if (needs_python(task) if reads_data else task.subject.python_ops) else ""
        hint(purpose, f"bayesnas-graph {verb} {shlex.quote(str(task.folder.path))}{allowed}")
