"""The display of a sweep: a line for each finished run, and on a terminal the runs in progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.live import Live
from rich.text import Text

from bayesnas_graph.cli.console import say
from bayesnas_graph.cli.rich_output import live_console
from bayesnas_graph.cli.terminal import red
from bayesnas_graph.diagnostics.wrapping import wrapped
from bayesnas_graph.runs.sweep.folder import SweepFolder, SweepRun, last_line
from bayesnas_graph.runs.sweep.schedule import SweepWatcher

MOST_RUNS = 12  # listed as in progress


def _say(text: str) -> None:
    say(text, 2)


@dataclass(frozen=True)
class SweepLines(SweepWatcher):
    """A line for each finished run."""

    say: Callable[[str], None] = _say

    def ended(self, run: SweepRun, number: int, total: int) -> None:
        if run.result is not None:
            result = f"{run.result.parameters:,} parameters, {run.result.metric.name} {run.result.accuracy:.4f}"
        else:
            state = red(run.state) if run.state == "failed" else run.state
            result = f"{state}: {run.error}" if run.error else state
        self.say(f"{number} of {total} done: {run.point.shown}: {result}")

    def resubmitted(self, run: SweepRun, most: int) -> None:
        self.say(f"{run.point.shown}: resubmitted after its node died ({run.resubmitted} of {most})")

    def stopping(self) -> None:
        self.say("stopping once all runs have saved their state; press Ctrl-C again to end them now")


@dataclass(frozen=True)
class SweepScreen(SweepLines):
    """The same lines, and below them the runs in progress, each with its last line of output."""

    folder: SweepFolder | None = None
    show: Callable[[Text], None] = lambda _: None

    def turn(self, runs: Sequence[SweepRun]) -> None:
        assert self.folder is not None, "set when the screen is created"
        busy = [run for run in runs if run.state == "running"]
        width = max((len(run.point.shown) for run in busy), default=0)
        lines = [f"{run.point.shown:<{width}}  {last_line(self.folder.log(run.point))}" for run in busy[:MOST_RUNS]]
        more, waiting = len(busy) - MOST_RUNS, sum(run.state == "waiting" for run in runs)
        lines += [f"and {more} more"] if more > 0 else []
        lines += [f"{waiting} waiting"] if waiting else []
        self.show(Text("\n".join(lines), style="dim", no_wrap=True, overflow="ellipsis"))


@contextmanager
def sweep_view(folder: SweepFolder, *, live: bool) -> Iterator[SweepWatcher]:
    """Show a sweep: in lines, and if `live` with the runs in progress. Runs continue when the output is closed."""
    if not live:
        yield SweepLines()
        return
    out = live_console(sys.stdout)
    with Live(console=out, auto_refresh=False, transient=True) as screen:
        yield SweepScreen(
            lambda text: out.print(Text.from_ansi("\n".join(wrapped(text, out.width, 0, 2))), soft_wrap=True),
            folder,
            lambda text: screen.update(text, refresh=True),
        )
